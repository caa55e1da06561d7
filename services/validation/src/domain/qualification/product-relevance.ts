import { type Discount, type Rule, matchesAny } from "@scrip/rules";

import {
  type Belonging,
  belongingOf,
  limitsProducts,
  unionOfScopes,
} from "../applicable-items/item-scope.ts";
import type { CatalogueItem, LineFacts } from "../input/facts.ts";
import { type Subject, rulesOf } from "../input/subject.ts";
import type { Scenario } from "./qualification-scenario.ts";

/** The products that a candidate may have to do with. */
export type Cart = {
  readonly lines: readonly LineFacts[];
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
};

/**
 * Whether a redeemable has to do with products of the order, met or not: its effect reaches one of
 * them, or its rules require one (spec/validation-and-redemption.md §6).
 */
export function concernsProducts(
  subject: Subject,
  products: Scenario["products"],
  cart: Cart,
): boolean {
  switch (products) {
    case "any":
      return true;
    case "effect":
      return isDiscounted(subject, cart);
    case "effect_or_requirement":
      return isDiscounted(subject, cart) || isRequired(subject, cart);
    default:
      return products satisfies never;
  }
}

function isDiscounted(subject: Subject, { lines, catalogue }: Cart): boolean {
  const scope = unionOfScopes(rulesOf(subject));
  const effect = effectOf(subject, limitsProducts(scope));
  const isReached = ({ kind }: Belonging): boolean =>
    kind === "entry" || (kind === "all" && effect.reaches === "lines");
  return lines.some(
    (line) =>
      isReached(belongingOf(line, scope)) ||
      effect.gives.some((name) => isItem(line, name, catalogue.get(name))),
  );
}

/** What an effect is on by itself, and the ids of what it gives. */
type Effect = { readonly reaches: "order" | "lines"; readonly gives: readonly string[] };

function effectOf({ kind, facts }: Subject, isLimited: boolean): Effect {
  if (kind === "promotion_tier") return effectOfDiscount(facts.discount, isLimited);
  const { value } = facts;
  switch (value.type) {
    case "DISCOUNT_VOUCHER":
      return effectOfDiscount(value.discount, isLimited);
    case "GIFT_VOUCHER":
      return { reaches: value.effect === "APPLY_TO_ITEMS" ? "lines" : "order", gives: [] };
    case "LOYALTY_CARD":
      return { reaches: "order", gives: [] };
    default:
      return value satisfies never;
  }
}

function effectOfDiscount(discount: Discount | null, isLimited: boolean): Effect {
  if (discount === null) return { reaches: "order", gives: [] };
  if (discount.type === "UNIT") {
    const isOnLines = discount.gifts.some(({ effect }) => ON_LINES.has(effect));
    const gives = discount.gifts.flatMap(({ unitType }) => unitType ?? []);
    return { reaches: isOnLines ? "lines" : "order", gives };
  }
  const effect = discount.effect ?? (isLimited ? "APPLY_TO_ITEMS" : "APPLY_TO_ORDER");
  return { reaches: effect === "APPLY_TO_ORDER" ? "order" : "lines", gives: [] };
}

/** Unit effects that begin with what is in the order. */
const ON_LINES: ReadonlySet<string> = new Set(["ADD_SAME_ITEMS", "REPLACE_ITEMS"]);

const isItem = (line: LineFacts, name: string, item: CatalogueItem | undefined): boolean =>
  [line.productId, line.skuId, line.productSourceId, line.skuSourceId].includes(name) ||
  (item !== undefined &&
    (item.skuId === null ? line.productId === item.productId : line.skuId === item.skuId));

function isRequired(subject: Subject, { lines }: Cart): boolean {
  return rulesOf(subject).some(({ rules, bundle }) => {
    const conditions = [...rules.values()].flatMap(requiredItems);
    const parts = [...(bundle?.rules.values() ?? [])].flatMap(({ items }) => items);
    const items = [...conditions, ...parts];
    return lines.some((line) => matchesAny(items, line));
  });
}

/** What a rule wants to be there: not what it forbids. */
const requiredItems = ({ name, conditions }: Rule) =>
  name === "order.items.none"
    ? []
    : conditions.flatMap((condition) =>
        condition.kind === "items" && WANTING.has(condition.operator) ? condition.items : [],
      );

const WANTING: ReadonlySet<string> = new Set(["$is", "$in", "$from"]);

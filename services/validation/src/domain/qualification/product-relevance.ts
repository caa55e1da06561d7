import { type Discount, type Rule, matchesAny } from "@scrip/rules";

import {
  type ScopeMatch,
  matchScope,
  limitsProducts,
  combinedScope,
} from "../applicable-items/item-scope.ts";
import type { CatalogueItem } from "../input/catalogue-item.ts";
import type { LineSnapshot } from "../input/order.ts";
import { type Subject, rulesOf } from "../input/subject.ts";
import type { QualificationScenario } from "./qualification-scenario.ts";

/** The order lines to which a candidate can be relevant, and the catalogue. */
export type ProductContext = {
  readonly lines: readonly LineSnapshot[];
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
};

/**
 * Whether a redeemable is relevant to products of the order, whether or not its conditions are met:
 * its effect applies to one of them, or its rules require one. docs/qualification.md#scenarios
 */
export function isRelevantToProducts(
  subject: Subject,
  products: QualificationScenario["products"],
  context: ProductContext,
): boolean {
  switch (products) {
    case "any":
      return true;
    case "effect":
      return isDiscounted(subject, context);
    case "effect_or_requirement":
      return isDiscounted(subject, context) || isRequired(subject, context);
    default:
      return products satisfies never;
  }
}

function isDiscounted(subject: Subject, { lines, catalogue }: ProductContext): boolean {
  const scope = combinedScope(rulesOf(subject));
  const effect = effectOf(subject, limitsProducts(scope));
  const isDiscounting = ({ kind }: ScopeMatch): boolean =>
    kind === "entry" || (kind === "all" && effect.appliesTo === "lines");
  return lines.some(
    (line) =>
      isDiscounting(matchScope(line, scope)) ||
      effect.grantedItems.some((name) => isLineOfItem(line, name, catalogue.get(name))),
  );
}

/** The target of an effect, and the ids of the items that it adds. */
type Effect = { readonly appliesTo: "order" | "lines"; readonly grantedItems: readonly string[] };

function effectOf({ kind, snapshot }: Subject, isLimited: boolean): Effect {
  if (kind === "promotion_tier") return effectOfDiscount(snapshot.discount, isLimited);
  const { value } = snapshot;
  switch (value.type) {
    case "DISCOUNT_VOUCHER":
      return effectOfDiscount(value.discount, isLimited);
    case "GIFT_VOUCHER":
      return { appliesTo: value.effect === "APPLY_TO_ITEMS" ? "lines" : "order", grantedItems: [] };
    case "LOYALTY_CARD":
      return { appliesTo: "order", grantedItems: [] };
    default:
      return value satisfies never;
  }
}

function effectOfDiscount(discount: Discount | null, isLimited: boolean): Effect {
  if (discount === null) return { appliesTo: "order", grantedItems: [] };
  if (discount.type === "UNIT") {
    const isOnLines = discount.grants.some(({ effect }) => ORDER_LINE_EFFECTS.has(effect));
    const grantedItems = discount.grants.flatMap(({ unitType }) => unitType ?? []);
    return { appliesTo: isOnLines ? "lines" : "order", grantedItems };
  }
  const effect = discount.effect ?? (isLimited ? "APPLY_TO_ITEMS" : "APPLY_TO_ORDER");
  return { appliesTo: effect === "APPLY_TO_ORDER" ? "order" : "lines", grantedItems: [] };
}

/** Unit effects on lines of the order. */
const ORDER_LINE_EFFECTS: ReadonlySet<string> = new Set(["ADD_SAME_ITEMS", "REPLACE_ITEMS"]);

const isLineOfItem = (line: LineSnapshot, name: string, item: CatalogueItem | undefined): boolean =>
  [line.productId, line.skuId, line.productSourceId, line.skuSourceId].includes(name) ||
  (item !== undefined &&
    (item.skuId === null ? line.productId === item.productId : line.skuId === item.skuId));

function isRequired(subject: Subject, { lines }: ProductContext): boolean {
  return rulesOf(subject).some(({ rules, bundle }) => {
    const conditions = [...rules.values()].flatMap(requiredItems);
    const parts = [...(bundle?.rules.values() ?? [])].flatMap(({ items }) => items);
    const items = [...conditions, ...parts];
    return lines.some((line) => matchesAny(items, line));
  });
}

/** The items that a rule requires, without those that it forbids. */
const requiredItems = ({ name, conditions }: Rule) =>
  name === "order.items.none"
    ? []
    : conditions.flatMap((condition) =>
        condition.kind === "items" && REQUIRING_OPERATORS.has(condition.operator)
          ? condition.items
          : [],
      );

const REQUIRING_OPERATORS: ReadonlySet<string> = new Set(["$is", "$in", "$from"]);

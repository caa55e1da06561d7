import type { Discount, DiscountEffect, ItemScope, MoneyDiscount } from "@scrip/rules";

import { limitsProducts, unionOfScopes } from "../applicable-items/item-scope.ts";
import { type LinePick, type Selection, selectItems } from "../applicable-items/item-selection.ts";
import { reachedScope } from "../applicable-items/reached-scope.ts";
import type { Bundles } from "../bundles/find-bundles.ts";
import {
  type BudgetContext,
  type BudgetRead,
  budgetGuards,
  budgetLeftIn,
  readBudgets,
} from "../counts/unit-budgets.ts";
import type { Benefit, DiscountedUnits, Guard, ReachedScope } from "../decision/decision.ts";
import type { Allocation } from "../decision/explanation-steps.ts";
import type { ScopeContext } from "../formulas/formula-operands.ts";
import { type Formulas, formulasOf } from "../formulas/formula-values.ts";
import type { CatalogueItem, LineFacts } from "../input/facts.ts";
import { type Subject, rulesOf } from "../input/subject.ts";
import type { LineDiscount } from "../order/order-draft.ts";
import { type OrderState, productOf, totalAmount } from "../order/order-state.ts";
import type { Refused } from "../rejections/rejection.ts";
import { type CalculationMode, type StackingRules } from "../stacking/stacking-rules.ts";
import { giveUnits } from "../unit-discounts/unit-discount.ts";
import { type MoneyEffect, applyMoney } from "./money-discount.ts";

export type EffectContext = ScopeContext & {
  readonly subject: Subject;
  readonly start: OrderState;
  readonly stacking: StackingRules;
  readonly mode: CalculationMode;
  readonly counts: ReadonlyMap<string, bigint>;
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
  readonly bundles: Bundles;
};

export type DiscountOutcome =
  | {
      readonly kind: "applied";
      readonly state: OrderState;
      readonly benefit: Benefit & { readonly kind: "discount" };
      /** Something was taken off, or units were given or exchanged. */
      readonly hasEffect: boolean;
      readonly scope: ReachedScope;
      readonly units: readonly DiscountedUnits[];
      readonly guards: readonly Guard[];
      readonly allocations: readonly Allocation[];
      readonly budgets: readonly BudgetRead[];
    }
  | { readonly kind: "refused"; readonly refusal: Refused };

/** What a discount does to the order as it stands; spec/validation-and-redemption.md §1. */
export function applyDiscount(
  discount: Discount,
  state: OrderState,
  context: EffectContext,
): DiscountOutcome {
  const scope = unionOfScopes(rulesOf(context.subject));
  const { subject, bundles } = context;
  const formulas = formulasOf({ subject, state, bundles: bundles.quantity }, context);
  const effect = effectOf(discount, scope);
  const isPercent = discount.type === "PERCENT";
  // Limits on units grow with the bundles, except where a percentage already does.
  const multiplier = isPercent ? 1n : bundles.multiplier;
  const selected =
    scope === null && effect === "APPLY_TO_ORDER"
      ? NOTHING_SELECTED
      : select(state, { ...context, scope, formulas, multiplier });
  const applied =
    discount.type === "UNIT"
      ? applyUnits(discount, state, { ...context, formulas, picks: selected.picks })
      : applyPicked(discount, state, { ...context, formulas, effect, picks: selected.picks });
  if (applied.kind === "refused") return applied;
  const { units } = applied;
  return {
    ...applied,
    scope: reachedScope(scope, state, selected),
    guards: guardsOf(selected.picks, units, { ...context, formulas, state }),
    budgets: hasBudgets(scope)
      ? readBudgets(selected.belongings, { ...context, formulas, state })
      : [],
  };
}

const hasBudgets = (scope: ItemScope | null): boolean =>
  scope !== null && scope.included.some(({ budgets }) => budgets.length > 0);

const NOTHING_SELECTED: Selection = { picks: [], belongings: [] };

/** What was left out is on the items where rules name products, and on the order elsewhere (§1.6). */
function effectOf(discount: Discount, scope: ItemScope | null): DiscountEffect {
  return discount.effect ?? (limitsProducts(scope) ? "APPLY_TO_ITEMS" : "APPLY_TO_ORDER");
}

type SelectContext = Pick<
  EffectContext,
  "subject" | "customer" | "counts" | "start" | "stacking"
> & {
  readonly scope: ItemScope | null;
  readonly formulas: Formulas;
  readonly multiplier: bigint;
};

function select(state: OrderState, context: SelectContext): Selection {
  return selectItems(state, {
    scope: context.scope,
    start: context.start,
    productsMode: context.stacking.redeemablesProductsApplicationMode,
    multiplier: context.multiplier,
    budgetLeft: budgetLeftIn(state, context),
  });
}

/** The lines that a gift card which pays for items may pay for. */
export function selectForGift(
  state: OrderState,
  context: EffectContext,
): { readonly picks: readonly LinePick[]; readonly scope: ReachedScope } {
  const { subject, bundles } = context;
  const scope = unionOfScopes(rulesOf(subject));
  const formulas = formulasOf({ subject, state, bundles: bundles.quantity }, context);
  const { multiplier } = bundles;
  const selected = select(state, { ...context, scope, formulas, multiplier });
  return { picks: selected.picks, scope: reachedScope(scope, state, selected) };
}

type Picked = EffectContext & {
  readonly formulas: Formulas;
  readonly picks: readonly LinePick[];
};

type Applied =
  | Omit<DiscountOutcome & { readonly kind: "applied" }, "scope" | "guards" | "budgets">
  | (DiscountOutcome & { readonly kind: "refused" });

function applyPicked(
  discount: MoneyDiscount,
  state: OrderState,
  context: Picked & { readonly effect: DiscountEffect },
): Applied {
  const { picks, formulas, mode } = context;
  const effect = context.effect as MoneyEffect;
  const { multiplier } = context.bundles;
  const applied = applyMoney(discount, state, { mode, picks, formulas, multiplier, effect });
  const { isDynamic, value, lines } = applied;
  const unitsAt = new Map(picks.map(({ index, units }) => [index, units]));
  return {
    kind: "applied",
    state: applied.state,
    benefit: { kind: "discount", effect, isDynamic, value, given: [] },
    hasEffect: totalAmount(applied.state) < totalAmount(state),
    units: unitsByProduct(state, pickedUnits(picks, lines)),
    allocations: [
      ...orderAllocation(state, applied.state),
      ...lines.map(({ index, amount }) => ({
        orderItemIndex: index,
        amount,
        quantity: unitsAt.get(index) ?? null,
      })),
    ],
  };
}

function applyUnits(
  discount: Discount & { type: "UNIT" },
  state: OrderState,
  context: Picked,
): Applied {
  const { picks, formulas, catalogue } = context;
  const { multiplier } = context.bundles;
  const outcome = giveUnits(discount, state, { picks, formulas, catalogue, multiplier });
  if (outcome.kind === "refused") return outcome;
  const { given, state: after } = outcome;
  const changes = after.lines.map((line, index) => {
    const before = state.lines[index];
    return {
      index,
      amount: line.discountAmount - (before?.discountAmount ?? 0n),
      units: line.discountQuantity - (before?.discountQuantity ?? 0n),
      added: line.quantity - (before?.quantity ?? 0n),
    };
  });
  const isDynamic = given.some((one) => one.isDynamic);
  return {
    kind: "applied",
    state: after,
    benefit: {
      kind: "discount",
      effect: discount.effect,
      isDynamic,
      value: isDynamic ? outcome.value : null,
      given,
    },
    hasEffect: changes.some(
      ({ amount, units, added }) => amount > 0n || units > 0n || added !== 0n,
    ),
    units: unitsByProduct(after, changes),
    allocations: changes.flatMap(({ index, amount, units }) =>
      amount > 0n || units > 0n ? [{ orderItemIndex: index, amount, quantity: units }] : [],
    ),
  };
}

function orderAllocation(before: OrderState, after: OrderState): readonly Allocation[] {
  const amount = after.discountAmount - before.discountAmount;
  return amount > 0n ? [{ orderItemIndex: null, amount, quantity: null }] : [];
}

type UnitsOfLine = { readonly index: number; readonly units: bigint };

/** The units of lines that something was really taken off. */
function pickedUnits(
  picks: readonly LinePick[],
  lines: readonly LineDiscount[],
): readonly UnitsOfLine[] {
  const discounted = new Set(lines.flatMap(({ index, amount }) => (amount > 0n ? [index] : [])));
  return picks.filter(({ index }) => discounted.has(index));
}

function unitsByProduct(
  state: OrderState,
  lines: readonly UnitsOfLine[],
): readonly DiscountedUnits[] {
  const byProduct = new Map<string, bigint>();
  for (const { index, units } of lines) {
    const facts: LineFacts | undefined = state.lines[index]?.facts;
    const product = facts && productOf(facts);
    if (!product || units <= 0n) continue;
    byProduct.set(product, (byProduct.get(product) ?? 0n) + units);
  }
  return [...byProduct].map(([productId, quantity]) => ({ productId, quantity }));
}

function guardsOf(
  picks: readonly LinePick[],
  units: readonly DiscountedUnits[],
  context: BudgetContext & { readonly state: OrderState },
): readonly Guard[] {
  const limited = picks.flatMap(({ entry, index }) =>
    entry === null || entry.budgets.length === 0 ? [] : [{ entry, index }],
  );
  return limited.length === 0 ? [] : budgetGuards(limited, units, context);
}

import type { Discount, DiscountEffect, ItemScope, MoneyDiscount } from "@scrip/rules";

import { limitsProducts, combinedScope } from "../applicable-items/item-scope.ts";
import {
  type SelectedLine,
  type ItemSelection,
  selectItems,
} from "../applicable-items/item-selection.ts";
import { matchedScope, type MatchedScope } from "../applicable-items/matched-scope.ts";
import type { Bundles } from "../bundles/find-bundles.ts";
import type { CountGuard } from "../counts/count-guard.ts";
import type { DiscountedUnits } from "../counts/counts.ts";
import {
  type BudgetContext,
  type BudgetUsage,
  unitBudgetGuards,
  remainingBudgetOf,
  budgetUsages,
} from "../counts/unit-budgets.ts";
import type { Benefit } from "../decision/benefit.ts";
import type { Allocation } from "../decision/explanation-steps.ts";
import type { FormulaContext } from "../formulas/formula-operands.ts";
import { type Formulas, formulaEvaluator } from "../formulas/formula-values.ts";
import type { CatalogueItem } from "../input/catalogue-item.ts";
import { type Subject, rulesOf } from "../input/subject.ts";
import type { LineDiscount } from "../order/order-draft.ts";
import { type OrderState, productKey, totalAmount } from "../order/order-state.ts";
import type { Rejection } from "../rejections/rejection.ts";
import { type CalculationMode, type StackingRules } from "../stacking/stacking-rules.ts";
import { applyUnitDiscount } from "../unit-discounts/unit-discount.ts";
import { type MoneyEffect, applyMoneyDiscount } from "./money-discount.ts";

export type DiscountContext = FormulaContext & {
  readonly subject: Subject;
  readonly start: OrderState;
  readonly stacking: StackingRules;
  readonly mode: CalculationMode;
  readonly counts: ReadonlyMap<string, bigint>;
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
  readonly bundles: Bundles;
};

/** The result of a redeemable's value, or why it cannot be applied. */
export type OutcomeOf<Applied extends Benefit> =
  | {
      readonly kind: "applied";
      readonly benefit: Applied;
      /** False if nothing was discounted, added or exchanged and no credits or points were used. */
      readonly hasEffect: boolean;
      readonly state: OrderState;
      readonly scope: MatchedScope;
      /** Units discounted by an item-level effect, by product. */
      readonly units: readonly DiscountedUnits[];
      /** Guards of unit budgets. */
      readonly guards: readonly CountGuard[];
      readonly allocations: readonly Allocation[];
      /** Unit budgets before this redemption. */
      readonly budgets: readonly BudgetUsage[];
    }
  | { readonly kind: "rejected"; readonly rejection: Rejection };

export type DiscountOutcome = OutcomeOf<Benefit & { readonly kind: "discount" }>;

/** Applies a discount to the current order. docs/order-calculation.md#effects */
export function applyDiscount(
  discount: Discount,
  state: OrderState,
  context: DiscountContext,
): DiscountOutcome {
  const scope = combinedScope(rulesOf(context.subject));
  const { subject, bundles } = context;
  const formulas = formulaEvaluator({ subject, state, bundles: bundles.quantity }, context);
  const effect = defaultedEffect(discount, scope);
  const isPercent = discount.type === "PERCENT";
  // Bundles multiply limits on units, except for percentages, whose value is multiplied already.
  const multiplier = isPercent ? 1n : bundles.multiplier;
  const selected =
    scope === null && effect === "APPLY_TO_ORDER"
      ? EMPTY_SELECTION
      : selectLines(state, { ...context, scope, formulas, multiplier });
  const applied =
    discount.type === "UNIT"
      ? applyUnits(discount, state, { ...context, formulas, selectedLines: selected.lines })
      : applyToSelection(discount, state, {
          ...context,
          formulas,
          effect,
          selectedLines: selected.lines,
        });
  if (applied.kind === "rejected") return applied;
  const { units } = applied;
  return {
    ...applied,
    scope: matchedScope(scope, state, selected),
    guards: budgetGuards(selected.lines, units, { ...context, formulas, state }),
    budgets: hasUnitBudgets(scope)
      ? budgetUsages(selected.matches, { ...context, formulas, state })
      : [],
  };
}

const hasUnitBudgets = (scope: ItemScope | null): boolean =>
  scope !== null && scope.included.some(({ budgets }) => budgets.length > 0);

const EMPTY_SELECTION: ItemSelection = { lines: [], matches: [] };

/**
 * Without an effect, the discount applies to items if rules restrict products, otherwise to the
 * order. docs/order-calculation.md#effects
 */
function defaultedEffect(discount: Discount, scope: ItemScope | null): DiscountEffect {
  return discount.effect ?? (limitsProducts(scope) ? "APPLY_TO_ITEMS" : "APPLY_TO_ORDER");
}

type SelectionContext = Pick<
  DiscountContext,
  "subject" | "customer" | "counts" | "start" | "stacking"
> & {
  readonly scope: ItemScope | null;
  readonly formulas: Formulas;
  readonly multiplier: bigint;
};

function selectLines(state: OrderState, context: SelectionContext): ItemSelection {
  return selectItems(state, {
    scope: context.scope,
    start: context.start,
    productsMode: context.stacking.redeemablesProductsApplicationMode,
    multiplier: context.multiplier,
    remainingBudget: remainingBudgetOf(state, context),
  });
}

/** The lines that a gift card with effect APPLY_TO_ITEMS can pay for. */
export function selectGiftLines(
  state: OrderState,
  context: DiscountContext,
): { readonly selectedLines: readonly SelectedLine[]; readonly scope: MatchedScope } {
  const { subject, bundles } = context;
  const scope = combinedScope(rulesOf(subject));
  const formulas = formulaEvaluator({ subject, state, bundles: bundles.quantity }, context);
  const { multiplier } = bundles;
  const selected = selectLines(state, { ...context, scope, formulas, multiplier });
  return { selectedLines: selected.lines, scope: matchedScope(scope, state, selected) };
}

type SelectedDiscountContext = DiscountContext & {
  readonly formulas: Formulas;
  readonly selectedLines: readonly SelectedLine[];
};

type EffectOutcome =
  | Omit<DiscountOutcome & { readonly kind: "applied" }, "scope" | "guards" | "budgets">
  | (DiscountOutcome & { readonly kind: "rejected" });

function applyToSelection(
  discount: MoneyDiscount,
  state: OrderState,
  context: SelectedDiscountContext & { readonly effect: DiscountEffect },
): EffectOutcome {
  const { selectedLines, formulas, mode } = context;
  const effect = context.effect as MoneyEffect;
  const { multiplier } = context.bundles;
  const applied = applyMoneyDiscount(discount, state, {
    mode,
    selectedLines,
    formulas,
    multiplier,
    effect,
  });
  const { isDynamic, value, lines } = applied;
  const unitsAt = new Map(selectedLines.map(({ index, units }) => [index, units]));
  return {
    kind: "applied",
    state: applied.state,
    benefit: { kind: "discount", effect, isDynamic, value, grants: [] },
    hasEffect: totalAmount(applied.state) < totalAmount(state),
    units: unitsByProduct(state, discountedLineUnits(selectedLines, lines)),
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
  context: SelectedDiscountContext,
): EffectOutcome {
  const { selectedLines, formulas, catalogue } = context;
  const { multiplier } = context.bundles;
  const outcome = applyUnitDiscount(discount, state, {
    selectedLines,
    formulas,
    catalogue,
    multiplier,
  });
  if (outcome.kind === "rejected") return outcome;
  const { grants, state: after } = outcome;
  const changes = after.lines.map((line, index) => {
    const before = state.lines[index];
    return {
      index,
      amount: line.discountAmount - (before?.discountAmount ?? 0n),
      units: line.discountQuantity - (before?.discountQuantity ?? 0n),
      added: line.quantity - (before?.quantity ?? 0n),
    };
  });
  const isDynamic = grants.some((one) => one.isDynamic);
  return {
    kind: "applied",
    state: after,
    benefit: {
      kind: "discount",
      effect: discount.effect,
      isDynamic,
      value: isDynamic ? outcome.value : null,
      grants,
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

type LineUnits = { readonly index: number; readonly units: bigint };

/** The units of lines with a discount. */
function discountedLineUnits(
  selectedLines: readonly SelectedLine[],
  lines: readonly LineDiscount[],
): readonly LineUnits[] {
  const discounted = new Set(lines.flatMap(({ index, amount }) => (amount > 0n ? [index] : [])));
  return selectedLines.filter(({ index }) => discounted.has(index));
}

function unitsByProduct(
  state: OrderState,
  lines: readonly LineUnits[],
): readonly DiscountedUnits[] {
  const byProduct = new Map<string, bigint>();
  for (const { index, units } of lines) {
    const snapshot = state.lines[index]?.snapshot;
    const product = snapshot && productKey(snapshot);
    if (!product || units <= 0n) continue;
    byProduct.set(product, (byProduct.get(product) ?? 0n) + units);
  }
  return [...byProduct].map(([productId, quantity]) => ({ productId, quantity }));
}

function budgetGuards(
  selectedLines: readonly SelectedLine[],
  units: readonly DiscountedUnits[],
  context: BudgetContext & { readonly state: OrderState },
): readonly CountGuard[] {
  const limited = selectedLines.flatMap(({ entry, index }) =>
    entry === null || entry.budgets.length === 0 ? [] : [{ entry, index }],
  );
  return limited.length === 0 ? [] : unitBudgetGuards(limited, units, context);
}

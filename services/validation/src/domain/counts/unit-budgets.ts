import { type ScopeEntry, type UnitBudget, type Count, countKey } from "@scrip/rules";

import { type ScopeMatch, matchScope, combinedScope } from "../applicable-items/item-scope.ts";
import type { RemainingBudget } from "../applicable-items/item-selection.ts";
import { type Formulas, toUnits } from "../formulas/formula-values.ts";
import type { CatalogueItem } from "../input/catalogue-item.ts";
import type { CustomerSnapshot } from "../input/customer.ts";
import type { LineSnapshot } from "../input/order.ts";
import { type Subject, campaignOf, rulesOf } from "../input/subject.ts";
import { atLeastZero } from "../order/minor-units.ts";
import { type OrderState, productKey } from "../order/order-state.ts";
import type { CountGuard } from "./count-guard.ts";
import { type DiscountedUnits, countCustomerId } from "./counts.ts";

/**
 * Context of budgets: limits on discounted units of a product over all redemptions.
 * docs/order-calculation.md#selecting-lines-and-units
 */
export type BudgetContext = {
  readonly subject: Subject;
  readonly customer: CustomerSnapshot | null;
  readonly counts: ReadonlyMap<string, bigint>;
  readonly formulas: Formulas;
};

/**
 * The units that the tightest budget of the entry leaves for a line, after `discounted` units of
 * its product.
 */
export const remainingBudgetOf =
  (state: OrderState, context: BudgetContext): RemainingBudget =>
  (entry, index, discounted) => {
    const line = state.lines[index]?.snapshot;
    if (line === undefined) return null;
    let left: bigint | null = null;
    for (const { budget, count } of productBudgets(entry, line, context)) {
      const limit = budgetLimit(budget, index, context);
      if (limit === null) continue;
      const used = count === null ? 0n : (context.counts.get(countKey(count)) ?? 0n);
      const remaining = atLeastZero(limit - used - discounted);
      if (left === null || remaining < left) left = remaining;
    }
    return left;
  };

/** The lines of an order, and the items that discounts can add. */
export type BudgetedItems = {
  readonly lines: readonly LineSnapshot[];
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
  readonly customer: CustomerSnapshot | null;
};

/** The counts of all budgets of a redeemable. */
export function requiredUnitCounts(
  subject: Subject,
  { lines, catalogue, customer }: BudgetedItems,
): readonly Count[] {
  const scope = combinedScope(rulesOf(subject));
  if (scope === null || scope.included.every(({ budgets }) => budgets.length === 0)) return [];
  return [...lines, ...catalogue.values()].flatMap((item) => {
    const match = matchScope(item, scope);
    if (match.kind !== "entry") return [];
    return productBudgets(match.entry, item, { subject, customer }).flatMap(
      ({ count }) => count ?? [],
    );
  });
}

/**
 * Guards that no budget is exceeded. They have no rejection: with fewer units left, the request is
 * decided again.
 */
export function unitBudgetGuards(
  selected: readonly { readonly entry: ScopeEntry; readonly index: number }[],
  units: readonly DiscountedUnits[],
  { state, ...context }: BudgetContext & { readonly state: OrderState },
): readonly CountGuard[] {
  const discounted = new Map(units.map(({ productId, quantity }) => [productId, quantity]));
  const guards = new Map<string, CountGuard>();
  for (const { entry, index } of selected) {
    const line = state.lines[index]?.snapshot;
    const product = line && productKey(line);
    const add = (product && discounted.get(product)) || 0n;
    if (line === undefined || add === 0n) continue;
    for (const { budget, count } of productBudgets(entry, line, context)) {
      const limit = budgetLimit(budget, index, context);
      if (limit === null || count === null) continue;
      guards.set(`${countKey(count)} ${limit}`, {
        count,
        add,
        conditions: { $less_than_or_equal: [Number(limit)] },
        rejection: null,
      });
    }
  }
  return [...guards.values()];
}

/** A budget before this redemption. */
export type BudgetUsage = {
  readonly productId: string;
  readonly used: bigint;
  readonly limit: bigint;
};

/** The budgets of all lines, each once. */
export function budgetUsages(
  matches: readonly ScopeMatch[],
  { state, ...context }: BudgetContext & { readonly state: OrderState },
): readonly BudgetUsage[] {
  const usages = new Map<string, BudgetUsage>();
  for (const [index, match] of matches.entries()) {
    const line = state.lines[index]?.snapshot;
    if (match.kind !== "entry" || line === undefined) continue;
    for (const { budget, count } of productBudgets(match.entry, line, context)) {
      const limit = budgetLimit(budget, index, context);
      if (limit === null || count === null) continue;
      const key = countKey(count);
      const used = context.counts.get(key) ?? 0n;
      usages.set(`${key} ${limit}`, { productId: count.productId ?? "", used, limit });
    }
  }
  return [...usages.values()];
}

type ProductBudget = {
  readonly budget: UnitBudget;
  /** null without a customer: there is no usage and nothing to guard. */
  readonly count: Count | null;
};

/** The budgets that apply to the redeemable: vouchers have no budgets of promotion tiers. */
function productBudgets(
  { budgets }: ScopeEntry,
  item: Parameters<typeof productKey>[0],
  { subject, customer }: Pick<BudgetContext, "subject" | "customer">,
): readonly ProductBudget[] {
  const product = productKey(item);
  if (product === null) return [];
  return budgets.flatMap((budget): ProductBudget[] => {
    const scope = budgetCountScope(budget, subject);
    if (scope === null) return [];
    const customerId = budget.perCustomer ? countCustomerId(customer) : null;
    if (budget.perCustomer && customerId === null) return [{ budget, count: null }];
    const count: Count = {
      scope,
      measure: "UNITS",
      customerId,
      channelId: null,
      since: null,
      productId: product,
    };
    return [{ budget, count }];
  });
}

/** Vouchers without a campaign count their own units. */
function budgetCountScope(budget: UnitBudget, subject: Subject): Count["scope"] | null {
  const own = { kind: subject.kind, id: subject.snapshot.id };
  if (budget.scope === "promotion_tier") return subject.kind === "promotion_tier" ? own : null;
  const campaign = campaignOf(subject);
  return campaign === null ? own : { kind: "campaign", id: campaign.id };
}

/** The value of the formula, or the static limit. */
function budgetLimit(
  budget: UnitBudget,
  index: number,
  { formulas }: Pick<BudgetContext, "formulas">,
) {
  const value = formulas(budget.formula)(index);
  return value === null ? budget.limit : toUnits(value);
}

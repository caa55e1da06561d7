import type { ScopeEntry, UnitBudget } from "@scrip/rules";

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
import { type DiscountedUnits, type Count, countKey, countCustomerId } from "./counts.ts";

/** What budgets on units are reckoned with; spec/validation-and-redemption.md §1.7.7. */
export type BudgetContext = {
  readonly subject: Subject;
  readonly customer: CustomerSnapshot | null;
  readonly counts: ReadonlyMap<string, bigint>;
  readonly formulas: Formulas;
};

/** What the tightest budget of the entry leaves for a product, beside what is taken of it now. */
export const remainingBudgetOf =
  (state: OrderState, context: BudgetContext): RemainingBudget =>
  (entry, index, taken) => {
    const facts = state.lines[index]?.snapshot;
    if (facts === undefined) return null;
    let left: bigint | null = null;
    for (const { budget, count } of productBudgets(entry, facts, context)) {
      const limit = budgetLimit(budget, index, context);
      if (limit === null) continue;
      const used = count === null ? 0n : (context.counts.get(countKey(count)) ?? 0n);
      const rest = atLeastZero(limit - used - taken);
      if (left === null || rest < left) left = rest;
    }
    return left;
  };

/** What is in an order, and what discounts may add to it. */
export type BudgetedItems = {
  readonly lines: readonly LineSnapshot[];
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
  readonly customer: CustomerSnapshot | null;
};

/** The counts that the budgets of a redeemable are compared with. */
export function requiredUnitCounts(
  subject: Subject,
  { lines, catalogue, customer }: BudgetedItems,
): readonly Count[] {
  const scope = combinedScope(rulesOf(subject));
  if (scope === null || scope.included.every(({ budgets }) => budgets.length === 0)) return [];
  return [...lines, ...catalogue.values()].flatMap((item) => {
    const belonging = matchScope(item, scope);
    if (belonging.kind !== "entry") return [];
    return productBudgets(belonging.entry, item, { subject, customer }).flatMap(
      ({ count }) => count ?? [],
    );
  });
}

/**
 * What must still hold when the units are taken: with them, no budget is exceeded. When it no longer
 * does, fewer units may be left, so it is decided again.
 */
export function unitBudgetGuards(
  picked: readonly { readonly entry: ScopeEntry; readonly index: number }[],
  units: readonly DiscountedUnits[],
  { state, ...context }: BudgetContext & { readonly state: OrderState },
): readonly CountGuard[] {
  const taken = new Map(units.map(({ productId, quantity }) => [productId, quantity]));
  const guards = new Map<string, CountGuard>();
  for (const { entry, index } of picked) {
    const facts = state.lines[index]?.snapshot;
    const product = facts && productKey(facts);
    const add = (product && taken.get(product)) || 0n;
    if (facts === undefined || add === 0n) continue;
    for (const { budget, count } of productBudgets(entry, facts, context)) {
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

/** A budget as a decision found it, before what it takes itself. */
export type BudgetUsage = {
  readonly productId: string;
  readonly used: bigint;
  readonly limit: bigint;
};

/** What the budgets of all lines say, each once. */
export function budgetUsages(
  belongings: readonly ScopeMatch[],
  { state, ...context }: BudgetContext & { readonly state: OrderState },
): readonly BudgetUsage[] {
  const reads = new Map<string, BudgetUsage>();
  for (const [index, belonging] of belongings.entries()) {
    const facts = state.lines[index]?.snapshot;
    if (belonging.kind !== "entry" || facts === undefined) continue;
    for (const { budget, count } of productBudgets(belonging.entry, facts, context)) {
      const limit = budgetLimit(budget, index, context);
      if (limit === null || count === null) continue;
      const key = countKey(count);
      const used = context.counts.get(key) ?? 0n;
      reads.set(`${key} ${limit}`, { productId: count.productId ?? "", used, limit });
    }
  }
  return [...reads.values()];
}

type ProductBudget = {
  readonly budget: UnitBudget;
  /** null without a customer: nothing was redeemed, and there is nothing to guard. */
  readonly count: Count | null;
};

/** Those that apply to the redeemable: a voucher has no budgets of tiers. */
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

function budgetCountScope(budget: UnitBudget, subject: Subject): Count["scope"] | null {
  if (budget.scope === "promotion_tier") {
    return subject.kind === "promotion_tier"
      ? { kind: "promotion_tier", id: subject.snapshot.id }
      : null;
  }
  const campaign = campaignOf(subject);
  return campaign && { kind: "campaign", id: campaign.id };
}

/** What the formula gives, or the number beside it. */
function budgetLimit(
  budget: UnitBudget,
  index: number,
  { formulas }: Pick<BudgetContext, "formulas">,
) {
  const given = formulas(budget.formula)(index);
  return given === null ? budget.limit : toUnits(given);
}

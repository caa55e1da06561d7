import type { ScopeEntry, UnitBudget } from "@scrip/rules";

import { type Belonging, belongingOf, unionOfScopes } from "../applicable-items/item-scope.ts";
import type { BudgetLeft } from "../applicable-items/item-selection.ts";
import type { DiscountedUnits, Guard } from "../decision/decision.ts";
import { type Formulas, unitsIn } from "../formulas/formula-values.ts";
import type { CatalogueItem, CustomerFacts, LineFacts } from "../input/facts.ts";
import { type Subject, campaignOf, rulesOf } from "../input/subject.ts";
import { atLeastZero } from "../order/minor-units.ts";
import { type OrderState, productOf } from "../order/order-state.ts";
import { type CountName, countKey, countedCustomer } from "./counts.ts";

/** What budgets on units are reckoned with; spec/validation-and-redemption.md §1.7.7. */
export type BudgetContext = {
  readonly subject: Subject;
  readonly customer: CustomerFacts | null;
  readonly counts: ReadonlyMap<string, bigint>;
  readonly formulas: Formulas;
};

/** What the tightest budget of the entry leaves for a product, beside what is taken of it now. */
export const budgetLeftIn =
  (state: OrderState, context: BudgetContext): BudgetLeft =>
  (entry, index, taken) => {
    const facts = state.lines[index]?.facts;
    if (facts === undefined) return null;
    let left: bigint | null = null;
    for (const { budget, count } of budgetsOf(entry, facts, context)) {
      const limit = limitOf(budget, index, context);
      if (limit === null) continue;
      const used = count === null ? 0n : (context.counts.get(countKey(count)) ?? 0n);
      const rest = atLeastZero(limit - used - taken);
      if (left === null || rest < left) left = rest;
    }
    return left;
  };

/** What is in an order, and what discounts may add to it. */
export type Countable = {
  readonly lines: readonly LineFacts[];
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
  readonly customer: CustomerFacts | null;
};

/** The counts that the budgets of a redeemable are compared with. */
export function neededUnitCounts(
  subject: Subject,
  { lines, catalogue, customer }: Countable,
): readonly CountName[] {
  const scope = unionOfScopes(rulesOf(subject));
  if (scope === null || scope.included.every(({ budgets }) => budgets.length === 0)) return [];
  return [...lines, ...catalogue.values()].flatMap((item) => {
    const belonging = belongingOf(item, scope);
    if (belonging.kind !== "entry") return [];
    return budgetsOf(belonging.entry, item, { subject, customer }).flatMap(
      ({ count }) => count ?? [],
    );
  });
}

/**
 * What must still hold when the units are taken: with them, no budget is exceeded. When it no longer
 * does, fewer units may be left, so it is decided again.
 */
export function budgetGuards(
  picked: readonly { readonly entry: ScopeEntry; readonly index: number }[],
  units: readonly DiscountedUnits[],
  { state, ...context }: BudgetContext & { readonly state: OrderState },
): readonly Guard[] {
  const taken = new Map(units.map(({ productId, quantity }) => [productId, quantity]));
  const guards = new Map<string, Guard>();
  for (const { entry, index } of picked) {
    const facts = state.lines[index]?.facts;
    const product = facts && productOf(facts);
    const add = (product && taken.get(product)) || 0n;
    if (facts === undefined || add === 0n) continue;
    for (const { budget, count } of budgetsOf(entry, facts, context)) {
      const limit = limitOf(budget, index, context);
      if (limit === null || count === null) continue;
      guards.set(`${countKey(count)} ${limit}`, {
        kind: "count",
        count,
        add,
        conditions: { $less_than_or_equal: [Number(limit)] },
        refusal: null,
      });
    }
  }
  return [...guards.values()];
}

/** A budget as a decision found it, before what it takes itself. */
export type BudgetRead = {
  readonly productId: string;
  readonly used: bigint;
  readonly limit: bigint;
};

/** What the budgets of all lines say, each once. */
export function readBudgets(
  belongings: readonly Belonging[],
  { state, ...context }: BudgetContext & { readonly state: OrderState },
): readonly BudgetRead[] {
  const reads = new Map<string, BudgetRead>();
  for (const [index, belonging] of belongings.entries()) {
    const facts = state.lines[index]?.facts;
    if (belonging.kind !== "entry" || facts === undefined) continue;
    for (const { budget, count } of budgetsOf(belonging.entry, facts, context)) {
      const limit = limitOf(budget, index, context);
      if (limit === null || count === null) continue;
      const key = countKey(count);
      const used = context.counts.get(key) ?? 0n;
      reads.set(`${key} ${limit}`, { productId: count.productId ?? "", used, limit });
    }
  }
  return [...reads.values()];
}

type BudgetOfProduct = {
  readonly budget: UnitBudget;
  /** null without a customer: nothing was redeemed, and there is nothing to guard. */
  readonly count: CountName | null;
};

/** Those that apply to the redeemable: a voucher has no budgets of tiers. */
function budgetsOf(
  { budgets }: ScopeEntry,
  item: Parameters<typeof productOf>[0],
  { subject, customer }: Pick<BudgetContext, "subject" | "customer">,
): readonly BudgetOfProduct[] {
  const product = productOf(item);
  if (product === null) return [];
  return budgets.flatMap((budget): BudgetOfProduct[] => {
    const scope = countScope(budget, subject);
    if (scope === null) return [];
    const customerId = budget.perCustomer ? countedCustomer(customer) : null;
    if (budget.perCustomer && customerId === null) return [{ budget, count: null }];
    const count: CountName = {
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

function countScope(budget: UnitBudget, subject: Subject): CountName["scope"] | null {
  if (budget.scope === "promotion_tier") {
    return subject.kind === "promotion_tier"
      ? { kind: "promotion_tier", id: subject.facts.id }
      : null;
  }
  const campaign = campaignOf(subject);
  return campaign && { kind: "campaign", id: campaign.id };
}

/** What the formula gives, or the number beside it. */
function limitOf(budget: UnitBudget, index: number, { formulas }: Pick<BudgetContext, "formulas">) {
  const given = formulas(budget.formula)(index);
  return given === null ? budget.limit : unitsIn(given);
}

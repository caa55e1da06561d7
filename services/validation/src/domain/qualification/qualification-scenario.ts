import { RULE_NAMES, type RuleName, type ValidationRule, traitsOf } from "@scrip/rules";

import { isCountRule } from "../counts/rule-counts.ts";
import type { IgnoredConditions } from "../decision/decision-request.ts";

/**
 * Which candidates a qualification considers and how it evaluates them.
 * docs/qualification.md#scenarios
 */
export type QualificationScenario = {
  readonly candidates: CandidateKind;
  /**
   * The rules that are evaluated; without a customer, those that need one fail in every scenario.
   */
  readonly rules: "all_but_budgets" | "audience" | "none";
  /** The required relation of a candidate to the products of the order. */
  readonly products: "any" | "effect" | "effect_or_requirement";
};

export type CandidateKind = "everything" | "vouchers" | "held_vouchers" | "promotion_stacks";

export type ScenarioName =
  | "ALL"
  | "CUSTOMER_WALLET"
  | "AUDIENCE_ONLY"
  | "PRODUCTS"
  | "PRODUCTS_DISCOUNT"
  | "PRODUCTS_BY_CUSTOMER"
  | "PRODUCTS_DISCOUNT_BY_CUSTOMER"
  | "PROMOTION_STACKS";

const allRedeemables = {
  candidates: "everything",
  rules: "all_but_budgets",
  products: "any",
} as const satisfies QualificationScenario;

export const SCENARIOS: Readonly<Record<ScenarioName, QualificationScenario>> = {
  ALL: allRedeemables,
  CUSTOMER_WALLET: { ...allRedeemables, candidates: "held_vouchers" },
  AUDIENCE_ONLY: { ...allRedeemables, rules: "audience" },
  PRODUCTS: { ...allRedeemables, rules: "none", products: "effect_or_requirement" },
  PRODUCTS_DISCOUNT: { ...allRedeemables, rules: "none", products: "effect" },
  PRODUCTS_BY_CUSTOMER: { ...allRedeemables, rules: "audience", products: "effect_or_requirement" },
  PRODUCTS_DISCOUNT_BY_CUSTOMER: { ...allRedeemables, rules: "audience", products: "effect" },
  PROMOTION_STACKS: { ...allRedeemables, candidates: "promotion_stacks" },
};

/** Rules about the customer, independent of the order. */
const AUDIENCE_RULES: ReadonlySet<RuleName> = new Set([
  "customer.segment",
  "customer.metadata",
  "customer.loyalty.tier",
  "publication.redeemable_by_linked_customer",
]);

/**
 * The conditions that the evaluation ignores in a scenario. Rules that need a customer are never
 * ignored without one.
 */
export const ignoredConditions = (
  { rules }: QualificationScenario,
  hasCustomer: boolean,
): IgnoredConditions => ({
  rules: new Set(
    RULE_NAMES.filter(
      (name) => !isEvaluated(name, rules) && (hasCustomer || traitsOf(name).needs !== "customer"),
    ),
  ),
  bundles: rules !== "all_but_budgets",
  rejections: rules === "all_but_budgets" ? NO_REJECTIONS : MISSING_ORDER_REJECTIONS,
});

function isEvaluated(name: RuleName, rules: QualificationScenario["rules"]): boolean {
  switch (rules) {
    case "all_but_budgets":
      return !isCountRule(name);
    case "audience":
      return AUDIENCE_RULES.has(name);
    case "none":
      return false;
    default:
      return rules satisfies never;
  }
}

const NO_REJECTIONS: NonNullable<IgnoredConditions["rejections"]> = new Set();

/** Rejections of an effect for want of an order, in scenarios that do not evaluate the order. */
const MISSING_ORDER_REJECTIONS: NonNullable<IgnoredConditions["rejections"]> = new Set([
  "missing_amount",
  "missing_order_items_amount",
]);

/** The names of a rule's ignored conditions; `bundle_rules` stands for its bundles. */
export function ignoredParts(rule: ValidationRule, ignored: IgnoredConditions): readonly string[] {
  const names = [...rule.rules.values()].flatMap(({ name }) =>
    ignored.rules.has(name) ? [name] : [],
  );
  return [...new Set(names), ...(ignored.bundles && rule.bundle !== null ? ["bundle_rules"] : [])];
}

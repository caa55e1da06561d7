import { RULE_NAMES, type RuleName, type ValidationRule, traitsOf } from "@scrip/rules";

import { isCountRule } from "../counts/rule-counts.ts";
import type { IgnoredConditions } from "../decision/decision-request.ts";

/** What a qualification asks; spec/validation-and-redemption.md §6. */
export type QualificationScenario = {
  readonly candidates: CandidateKind;
  /** Which rules decide, beside those that need a customer who is not there. */
  readonly rules: "all_but_budgets" | "audience" | "none";
  /** How a candidate must have to do with the products of the order. */
  readonly products: "any" | "effect" | "effect_or_requirement";
};

export type CandidateKind = "everything" | "held_vouchers" | "promotion_stacks";

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

/** Who somebody is, whatever is in the cart. */
const AUDIENCE_RULES: ReadonlySet<RuleName> = new Set([
  "customer.segment",
  "customer.metadata",
  "customer.loyalty.tier",
  "publication.redeemable_by_linked_customer",
]);

/** What the evaluator leaves out for a scenario. Without a customer nothing holds that needs one. */
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

/** What an order may lack for an effect where it is not the order that is asked about. */
const MISSING_ORDER_REJECTIONS: NonNullable<IgnoredConditions["rejections"]> = new Set([
  "missing_amount",
  "missing_order_items_amount",
]);

/** What of a rule was left out; bundles stand beside the names of rules. */
export function ignoredParts(rule: ValidationRule, omits: IgnoredConditions): readonly string[] {
  const names = [...rule.rules.values()].flatMap(({ name }) =>
    omits.rules.has(name) ? [name] : [],
  );
  return [...new Set(names), ...(omits.bundles && rule.bundle !== null ? ["bundle_rules"] : [])];
}

import { RULE_NAMES, type RuleName, type ValidationRule, traitsOf } from "@scrip/rules";

import { isCount } from "../counts/rule-counts.ts";
import type { Omissions } from "../decide.ts";

/** What a qualification asks; spec/validation-and-redemption.md §6. */
export type Scenario = {
  readonly candidates: Candidates;
  /** Which rules decide, beside those that need a customer who is not there. */
  readonly rules: "all_but_budgets" | "audience" | "none";
  /** How a candidate must have to do with the products of the order. */
  readonly products: "any" | "effect" | "effect_or_requirement";
};

export type Candidates = "everything" | "held_vouchers" | "promotion_stacks";

export type ScenarioName =
  | "ALL"
  | "CUSTOMER_WALLET"
  | "AUDIENCE_ONLY"
  | "PRODUCTS"
  | "PRODUCTS_DISCOUNT"
  | "PRODUCTS_BY_CUSTOMER"
  | "PRODUCTS_DISCOUNT_BY_CUSTOMER"
  | "PROMOTION_STACKS";

const everything = {
  candidates: "everything",
  rules: "all_but_budgets",
  products: "any",
} as const satisfies Scenario;

export const SCENARIOS: Readonly<Record<ScenarioName, Scenario>> = {
  ALL: everything,
  CUSTOMER_WALLET: { ...everything, candidates: "held_vouchers" },
  AUDIENCE_ONLY: { ...everything, rules: "audience" },
  PRODUCTS: { ...everything, rules: "none", products: "effect_or_requirement" },
  PRODUCTS_DISCOUNT: { ...everything, rules: "none", products: "effect" },
  PRODUCTS_BY_CUSTOMER: { ...everything, rules: "audience", products: "effect_or_requirement" },
  PRODUCTS_DISCOUNT_BY_CUSTOMER: { ...everything, rules: "audience", products: "effect" },
  PROMOTION_STACKS: { ...everything, candidates: "promotion_stacks" },
};

/** Who somebody is, whatever is in the cart. */
const AUDIENCE: ReadonlySet<RuleName> = new Set([
  "customer.segment",
  "customer.metadata",
  "customer.loyalty.tier",
  "publication.redeemable_by_linked_customer",
]);

/** What the evaluator leaves out for a scenario. Without a customer nothing holds that needs one. */
export const omissionsOf = ({ rules }: Scenario, hasCustomer: boolean): Omissions => ({
  rules: new Set(
    RULE_NAMES.filter(
      (name) => !isAsked(name, rules) && (hasCustomer || traitsOf(name).needs !== "customer"),
    ),
  ),
  bundles: rules !== "all_but_budgets",
  refusals: rules === "all_but_budgets" ? NO_REFUSALS : WITHOUT_AN_ORDER,
});

function isAsked(name: RuleName, rules: Scenario["rules"]): boolean {
  switch (rules) {
    case "all_but_budgets":
      return !isCount(name);
    case "audience":
      return AUDIENCE.has(name);
    case "none":
      return false;
    default:
      return rules satisfies never;
  }
}

const NO_REFUSALS: NonNullable<Omissions["refusals"]> = new Set();

/** What an order may lack for an effect where it is not the order that is asked about. */
const WITHOUT_AN_ORDER: NonNullable<Omissions["refusals"]> = new Set([
  "missing_amount",
  "missing_order_items_amount",
]);

/** What of a rule was left out; bundles stand beside the names of rules. */
export function omittedIn(rule: ValidationRule, omits: Omissions): readonly string[] {
  const names = [...rule.rules.values()].flatMap(({ name }) =>
    omits.rules.has(name) ? [name] : [],
  );
  return [...new Set(names), ...(omits.bundles && rule.bundle !== null ? ["bundle_rules"] : [])];
}

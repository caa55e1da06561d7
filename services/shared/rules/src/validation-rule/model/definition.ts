import type { Metadata } from "../../formula/value.ts";

/** A validation rule as it is sent and stored (docs/validation-rules.md#rule-object). */
export type ValidationRuleDefinition = {
  readonly id: string;
  /** Rules by number, and `logic`. */
  readonly rules: Metadata;
  readonly bundleRules: Metadata | null;
  readonly applicableTo: ItemScopeDefinition | null;
  /** `error.message` of the rule object. */
  readonly errorMessage: string | null;
};

export type ItemScopeDefinition = {
  readonly included: readonly ScopeEntryDefinition[];
  readonly excluded: readonly ScopeEntryDefinition[];
  readonly includedAll: boolean;
};

/** An entry as it is sent and stored. Amounts are minor units; null means absent. */
export type ScopeEntryDefinition = {
  readonly object: string;
  readonly id: string | null;
  readonly sourceId: string | null;
  readonly productId: string | null;
  readonly strict: boolean | null;
  readonly effect: string | null;
  readonly target: string | null;
  readonly skipInitially: bigint | null;
  readonly repeat: bigint | null;
  readonly price: bigint | null;
  readonly priceFormula: string | null;
  readonly quantityLimit: bigint | null;
  readonly aggregatedQuantityLimit: bigint | null;
  readonly amountLimit: bigint | null;
  readonly aggregatedAmountLimit: bigint | null;
  readonly budgets: readonly UnitBudgetDefinition[];
};

/** `<name>_quantity_limit` and `<name>_quantity_limit_formula` of an entry. */
export type UnitBudgetDefinition = {
  readonly name: UnitBudgetName;
  readonly limit: bigint | null;
  readonly formula: string | null;
};

export const UNIT_BUDGET_NAMES = [
  "product_campaign",
  "product_customer_campaign",
  "product_promotion_tier",
  "product_customer_promotion_tier",
  "product_in_collection_campaign",
  "product_in_collection_customer_campaign",
  "product_in_collection_promotion_tier",
  "product_in_collection_customer_promotion_tier",
] as const;

export type UnitBudgetName = (typeof UNIT_BUDGET_NAMES)[number];

import type { Formula } from "../../formula/parse.ts";
import type { Metadata } from "../../formula/value.ts";
import type { Condition } from "./condition.ts";
import type { UnitBudgetName } from "./definition.ts";
import type { ItemObject, ItemRef } from "./item-ref.ts";
import type { Logic } from "./logic.ts";
import type { RuleName } from "./rule-names.ts";

/** A parsed validation rule, which can be evaluated repeatedly. */
export type ValidationRule = {
  readonly id: string;
  readonly logic: Logic;
  readonly rules: ReadonlyMap<number, Rule>;
  readonly bundle: BundleRules | null;
  readonly scope: ItemScope | null;
  /** `error.message` of the rule object, for rules without their own message. */
  readonly message: string | null;
};

/** One numbered rule, or one of its sub-rules. */
export type Rule = {
  readonly number: number;
  readonly name: RuleName;
  readonly property: string | null;
  /** All must hold. */
  readonly conditions: readonly Condition[];
  /** As stored, for explanations and for the check of counts at commit. */
  readonly definition: Metadata;
  readonly children: RuleGroup | null;
  readonly message: string | null;
};

export type RuleGroup = { readonly logic: Logic; readonly rules: ReadonlyMap<number, Rule> };

/** How many bundles an order contains (docs/order-calculation.md#bundles). */
export type BundleRules = {
  readonly limit: bigint;
  /** False when the discount is not multiplied by the number of bundles. */
  readonly multiply: boolean;
  readonly rules: ReadonlyMap<number, BundlePart>;
};

export type BundlePart = {
  /** Any of them counts. */
  readonly items: readonly ItemRef[];
  readonly quantity: bigint;
};

/**
 * The lines and units that an effect applies to
 * (docs/order-calculation.md#selecting-lines-and-units).
 */
export type ItemScope = {
  readonly included: readonly ScopeEntry[];
  readonly excluded: readonly ScopeEntry[];
  readonly includedAll: boolean;
};

export type ApplicationEffect =
  | "APPLY_TO_EVERY"
  | "APPLY_TO_CHEAPEST"
  | "APPLY_FROM_CHEAPEST"
  | "APPLY_TO_MOST_EXPENSIVE"
  | "APPLY_FROM_MOST_EXPENSIVE";

export type ScopeEntry = {
  readonly object: ItemObject;
  readonly id: string | null;
  readonly sourceId: string | null;
  /** For a SKU: its product, as stored. */
  readonly productId: string | null;
  readonly strict: boolean | null;
  readonly effect: ApplicationEffect;
  readonly target: "ITEM" | "UNIT";
  readonly skipInitially: bigint;
  readonly repeat: bigint;
  /** The new price of a FIXED discount. */
  readonly price: bigint | null;
  readonly priceFormula: Formula | null;
  /** Per line, and for all lines together. */
  readonly quantityLimit: bigint | null;
  readonly aggregatedQuantityLimit: bigint | null;
  readonly amountLimit: bigint | null;
  readonly aggregatedAmountLimit: bigint | null;
  /** Across all redemptions. */
  readonly budgets: readonly UnitBudget[];
  /** As stored, for responses. */
  readonly priceFormulaText: string | null;
};

/**
 * Maximum number of discounted units of a product across all redemptions that are not rolled back.
 */
export type UnitBudget = {
  readonly name: UnitBudgetName;
  readonly scope: "campaign" | "promotion_tier";
  /** Counted per customer. */
  readonly perCustomer: boolean;
  readonly limit: bigint | null;
  /** Calculates the limit; the static limit applies when it cannot. */
  readonly formula: Formula | null;
};

import type { Formula } from "../../formula/parse.ts";
import type { Metadata } from "../../formula/value.ts";
import type { Condition } from "./condition.ts";
import type { UnitBudgetName } from "./definition.ts";
import type { ItemObject, ItemRef } from "./item-ref.ts";
import type { Logic } from "./logic.ts";
import type { RuleName } from "./rule-names.ts";

/** A validation rule that was read once and can be checked as often as one likes. */
export type ValidationRule = {
  readonly id: string;
  readonly logic: Logic;
  readonly rules: ReadonlyMap<number, Rule>;
  readonly bundle: BundleRules | null;
  readonly scope: ItemScope | null;
  /** `error.message` of the rule object, for rules without one of their own. */
  readonly message: string | null;
};

/** One numbered rule, or one of its sub-rules. */
export type Rule = {
  readonly number: number;
  readonly name: RuleName;
  readonly property: string | null;
  /** All must hold. */
  readonly conditions: readonly Condition[];
  /** As they were stored: for traces, and for whoever checks a count again. */
  readonly definition: Metadata;
  readonly children: RuleGroup | null;
  readonly message: string | null;
};

export type RuleGroup = { readonly logic: Logic; readonly rules: ReadonlyMap<number, Rule> };

/** How often an order holds what is asked for together; spec/validation-and-redemption.md §1.10. */
export type BundleRules = {
  readonly limit: bigint;
  /** False when the discount is not multiplied by the number of bundles. */
  readonly multiply: boolean;
  readonly rules: ReadonlyMap<number, BundlePart>;
};

export type BundlePart = {
  /** Any of them will do. */
  readonly items: readonly ItemRef[];
  readonly quantity: bigint;
};

/** The lines and units that an effect reaches; spec/validation-and-redemption.md §1.7. */
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
  /** Of a SKU: the product it belongs to, as it was stored. */
  readonly productId: string | null;
  readonly strict: boolean | null;
  readonly effect: ApplicationEffect;
  readonly target: "ITEM" | "UNIT";
  readonly skipInitially: bigint;
  readonly repeat: bigint;
  /** The new price of a FIXED discount. */
  readonly price: bigint | null;
  readonly priceFormula: Formula | null;
  /** Of each line, and of all lines together. */
  readonly quantityLimit: bigint | null;
  readonly aggregatedQuantityLimit: bigint | null;
  readonly amountLimit: bigint | null;
  readonly aggregatedAmountLimit: bigint | null;
  /** Over all redemptions. */
  readonly budgets: readonly UnitBudget[];
  /** As it was stored, for answers. */
  readonly priceFormulaText: string | null;
};

/** How many units of a product may be discounted over all redemptions that were not rolled back. */
export type UnitBudget = {
  readonly name: UnitBudgetName;
  readonly scope: "campaign" | "promotion_tier";
  /** Of this customer only. */
  readonly perCustomer: boolean;
  readonly limit: bigint | null;
  /** Gives the limit when it can. */
  readonly formula: Formula | null;
};

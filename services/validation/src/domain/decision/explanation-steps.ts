import type { Metadata, MetadataValue } from "@scrip/rules";

/** How one redeemable was evaluated; mirrors `Explanation`. docs/qualification.md#explanations */
export type Explanation = {
  readonly steps: readonly ExplanationStep[];
  /** Every discount, in the order of application. */
  readonly allocations: readonly Allocation[];
};

export type ExplanationStep = {
  readonly kind: ExplanationStepKind;
  readonly passed: boolean;
  /** In words, with the values that were read. */
  readonly message: string;
  readonly validationRuleId?: string;
  /** The number of the rule, such as `1`, or `2.1` for the first sub-rule of the second. */
  readonly rule?: string;
  readonly name?: string;
  readonly property?: string;
  readonly conditions?: Metadata;
  /** The value of the operand; absent if there was none. */
  readonly value?: MetadataValue;
  /**
   * Other values that were read, by name: dates and windows, operands of a formula; null if absent.
   */
  readonly operands?: Metadata;
  readonly used?: bigint;
  readonly limit?: bigint;
};

export type ExplanationStepKind =
  | "active"
  | "dates"
  | "quantity"
  | "balance"
  | "rule"
  | "bundle"
  | "scope"
  | "formula"
  | "effect"
  | "limit"
  | "stacking";

export type Allocation = {
  /** null for the order as a whole. */
  readonly orderItemIndex: number | null;
  readonly amount: bigint;
  /** Discounted units, if the discount counts units. */
  readonly quantity: bigint | null;
};

/** Appends a step. */
export const withStep = (trace: Explanation | null, step: ExplanationStep): Explanation => ({
  steps: [...(trace?.steps ?? []), step],
  allocations: trace?.allocations ?? [],
});

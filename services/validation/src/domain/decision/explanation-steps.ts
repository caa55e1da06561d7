import type { Metadata, MetadataValue } from "@scrip/rules";

/** How one redeemable was decided, step by step; mirrors `Explanation`. */
export type Explanation = {
  readonly steps: readonly ExplanationStep[];
  /** Every amount that was taken off, in the order in which it was taken. */
  readonly allocations: readonly Allocation[];
};

export type ExplanationStep = {
  readonly kind: ExplanationStepKind;
  readonly passed: boolean;
  /** In words, with the values. */
  readonly message: string;
  readonly validationRuleId?: string;
  /** The number of the rule, such as `1` or `2.1` for the first sub-rule of the second. */
  readonly rule?: string;
  readonly name?: string;
  readonly property?: string;
  readonly conditions?: Metadata;
  /** The operand as it was read; absent when there was none. */
  readonly value?: MetadataValue;
  /** What else was read, by name: dates and windows, operands of a formula; null where there was none. */
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
  /** Units discounted, where they count. */
  readonly quantity: bigint | null;
};

/** A step more, after those that were taken already. */
export const withStep = (trace: Explanation | null, step: ExplanationStep): Explanation => ({
  steps: [...(trace?.steps ?? []), step],
  allocations: trace?.allocations ?? [],
});

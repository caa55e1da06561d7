/**
 * The smallest change that would satisfy one failed condition; mirrors `Hint`.
 * docs/qualification.md#hints
 */
export type Hint = {
  /** In words: `2500 more`, `from 2026-12-01T00:00:00.000Z`. */
  readonly message: string;
  /** The name of a rule, or `dates`, `balance`, `bundle` or `customer`. */
  readonly name: string;
  readonly property: string | null;
  readonly validationRuleId: string | null;
  /** Amounts and counts: how much more is required; negative: how much less. */
  readonly difference: bigint | null;
  /** Dates: the instant from which the redeemable applies. */
  readonly from: number | null;
  /** Memberships: any one of these is sufficient. */
  readonly anyOf: readonly string[];
};

/** The smallest change that would meet one condition that failed; mirrors `Hint`. */
export type Hint = {
  /** In words: `2500 more`, `from 2026-12-01T00:00:00.000Z`. */
  readonly message: string;
  /** The name of a rule, or `dates`, `quantity`, `balance`, `bundle`. */
  readonly name: string;
  readonly property: string | null;
  readonly validationRuleId: string | null;
  /** Amounts and counts: how much more is needed; negative: how much less. */
  readonly difference: bigint | null;
  /** Dates: the instant at which it will apply. */
  readonly from: number | null;
  /** Memberships: one of these is enough. */
  readonly anyOf: readonly string[];
};

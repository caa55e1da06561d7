/** Limits a list by time of creation; null is no limit. */
export type CreatedRange = {
  /** Inclusive. */
  readonly from: Date | null;
  /** Inclusive. */
  readonly until: Date | null;
  /** Exclusive. */
  readonly after: Date | null;
  /** Exclusive. */
  readonly before: Date | null;
};

export const ANY_TIME: CreatedRange = { from: null, until: null, after: null, before: null };

/** Conditions to append to a `where` clause; adds their values. Empty without limits. */
export function createdConditions(
  { from, until, after, before }: CreatedRange,
  values: unknown[],
  column = "created_at",
): string {
  const limits = [
    [">=", from],
    ["<=", until],
    [">", after],
    ["<", before],
  ] as const;
  return limits
    .map(([operator, limit]) =>
      limit === null ? "" : ` and ${column} ${operator} $${values.push(limit)}::timestamptz`,
    )
    .join("");
}

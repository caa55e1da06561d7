type Timestamp = { readonly seconds: bigint; readonly nanos: number };

/** The times that a list is limited to. */
export type TimeRange = {
  /** `created_at[after]`: exclusive. */
  readonly after?: Timestamp | undefined;
  /** `created_at[before]`: exclusive. */
  readonly before?: Timestamp | undefined;
  /** `start_date`: inclusive. */
  readonly from?: Timestamp | undefined;
  /** `end_date`: inclusive. */
  readonly until?: Timestamp | undefined;
};

/** The SQL conditions of a time range; their values are appended. */
export function timeRangeConditions(
  column: string,
  range: TimeRange | undefined,
  values: unknown[],
): readonly string[] {
  const { after, before, from, until } = range ?? {};
  const bounds = [
    [">", after],
    ["<", before],
    [">=", from],
    ["<=", until],
  ] as const;
  return bounds.flatMap(([operator, bound]) =>
    bound === undefined
      ? []
      : [`${column} ${operator} $${values.push(toDate(bound))}::timestamptz`],
  );
}

/** The same for an item of a list that is read as a whole. */
export function inTimeRange(date: Date, range: TimeRange | undefined): boolean {
  const { after, before, from, until } = range ?? {};
  return (
    (after === undefined || date > toDate(after)) &&
    (before === undefined || date < toDate(before)) &&
    (from === undefined || date >= toDate(from)) &&
    (until === undefined || date <= toDate(until))
  );
}

const toDate = ({ seconds, nanos }: Timestamp): Date =>
  new Date(Number(seconds) * 1000 + Math.floor(nanos / 1_000_000));

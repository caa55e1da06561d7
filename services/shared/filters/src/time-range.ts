type Timestamp = { readonly seconds: bigint; readonly nanos: number };

/** `created_at[after]` and `created_at[before]` of a list request. */
export type TimeRange = {
  readonly after?: Timestamp | undefined;
  readonly before?: Timestamp | undefined;
};

/** The SQL conditions of a time range, both of whose bounds are exclusive. */
export function timeRangeConditions(
  column: string,
  range: TimeRange | undefined,
  values: unknown[],
): readonly string[] {
  const { after, before } = range ?? {};
  return [
    ...(after === undefined ? [] : [`${column} > $${values.push(toDate(after))}::timestamptz`]),
    ...(before === undefined ? [] : [`${column} < $${values.push(toDate(before))}::timestamptz`]),
  ];
}

const toDate = ({ seconds, nanos }: Timestamp): Date =>
  new Date(Number(seconds) * 1000 + Math.floor(nanos / 1_000_000));

/** Exclusive bounds of a time. */
export type DateRange = { readonly after: Date | null; readonly before: Date | null };

/** SQL conditions on a column; parameters are added to `values`. */
export function dateRangeConditions(
  column: string,
  { after, before }: DateRange,
  values: unknown[],
): readonly string[] {
  return [
    ...(after === null ? [] : [`${column} > $${values.push(after)}::timestamptz`]),
    ...(before === null ? [] : [`${column} < $${values.push(before)}::timestamptz`]),
  ];
}

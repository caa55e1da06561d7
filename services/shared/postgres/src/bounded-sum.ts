/**
 * SQL: the value of a `sum(…)` expression as int8, zero without rows. It never exceeds the largest integer that JSON holds
 * exactly: any number of amounts may be added, and a sum that needs more than eight bytes would fail the statement.
 */
export const boundedSum = (sum: string): string =>
  `least(coalesce(${sum}, 0), ${Number.MAX_SAFE_INTEGER})::int8`;

/**
 * What redemptions are looked up by, as the indexes have it (migrations/0006): SQL that answers the key
 * of a row, and SQL that puts the same key together from what is looked for. A condition that is
 * written otherwise is answered by another index, or by none.
 */

export type KeyColumn = "voucher_id" | "campaign_id" | "promotion_tier_id" | "customer_id";

/** The key of a row: its project and these columns. */
export const keyOf = (row: string, ...columns: readonly KeyColumn[]): string =>
  `(${[`${row}.project_id`, ...columns.map((column) => `${row}.${column}`)].join(" || ' ' || ")})`;

/** The key of this project and these values, each of them SQL. */
export const keyFrom = (...values: readonly string[]): string => `(${values.join(" || ' ' || ")})`;

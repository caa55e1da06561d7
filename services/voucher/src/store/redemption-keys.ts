/**
 * The keys of the indexes over redemptions (migrations/0031): SQL for the key of a row, and SQL for the same key from
 * lookup values. A condition written differently uses another index, or none.
 */

export type KeyColumn = "voucher_id" | "campaign_id" | "promotion_tier_id" | "customer_id";

/** The key of a row: its project and these columns. */
export const keyOf = (row: string, ...columns: readonly KeyColumn[]): string =>
  keyFrom(`${row}.project_id`, ...columns.map((column) => `${row}.${column}`));

/** The key of this project and these values, each of them SQL. */
export const keyFrom = (...values: readonly string[]): string =>
  `md5(${values.join(" || ' ' || ")})::uuid`;

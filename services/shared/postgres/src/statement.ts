/**
 * With a name, each connection prepares the statement once and then runs it by name, which saves
 * parsing and planning: worth it on the hot path only. Each name identifies one text in the whole
 * process.
 */
export type Statement = {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly planning?: Planning;
};

/**
 * How a statement is planned where the statistics of Postgres mislead it
 * (services/decisions/0021-index-lookups-and-grouped-events.md).
 *
 * `indexLookups`: without sequential scans, for prepared statements that look up rows of a table that grows. A connection
 * keeps the plan of a prepared statement, and one that was cached while the table filled a page or two would read all of
 * it for each row, until the next analyze. It keeps the plan from the first execution on, whatever the values are.
 *
 * `hashJoins`: without nested loops, for statements that join thousands of rows with thousands. Postgres expects one row
 * of a project that is younger than the statistics, and a nested loop would then compare each row with each other. Both
 * sides of the join need a condition on their ids, because a hash join reads all rows that satisfy the other conditions.
 */
export type Planning = "indexLookups" | "hashJoins";

/** The arguments of `query` for a statement that is not prepared. */
export const unprepared = (
  statement: string | Statement,
  values: readonly unknown[] = [],
): [string, unknown[]] =>
  typeof statement === "string"
    ? [statement, [...values]]
    : [statement.text, [...statement.values]];

import type { Queryable } from "./database.ts";

/** Where a check goes on: rows after `after`, by their ids, at most `limit` of them. */
export type ChunkRequest = {
  readonly projectId: string;
  readonly after: string;
  readonly limit: number;
};

export type Violation = { readonly subject: string; readonly details: string };

export type Chunk = {
  readonly checked: number;
  /** Where the next chunk goes on; null when this was the last. */
  readonly last: string | null;
  readonly violations: readonly Violation[];
};

/**
 * A statement that must hold of every row, whatever happens (design/reliability.md §1.2). Each chunk is
 * read by one statement, and so from one snapshot: what commits meanwhile is not taken for a fault.
 */
export type InvariantCheck = {
  readonly name: string;
  readonly states: string;
  readonly checkChunk: (db: Queryable, request: ChunkRequest) => Promise<Chunk>;
};

/**
 * Checks by a statement over the project `$1`, the id `$2` behind which it goes on, and the number `$3` of
 * rows: it answers a row for each that it looked at, its id and what is wrong with it or null.
 */
export const sqlCheck =
  (sql: string): InvariantCheck["checkChunk"] =>
  async (db, { projectId, after, limit }) => {
    const { rows } = await db.query<{ id: string; fault: string | null }>(sql, [
      projectId,
      after,
      limit,
    ]);
    return {
      checked: rows.length,
      last: rows.length < limit ? null : (rows.at(-1)?.id ?? null),
      violations: rows.flatMap(({ id, fault }) =>
        fault === null ? [] : [{ subject: id, details: fault }],
      ),
    };
  };

/**
 * Every project with a row in `table`, also one that the gateway no longer knows. Hops along the key,
 * which starts with project_id, and so reads one row of each project instead of all of them.
 */
export async function listProjectsIn(db: Queryable, table: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ project_id: string }>(
    `with recursive project as (
       (select project_id from ${table} order by project_id limit 1)
        union all
       select (select t.project_id from ${table} t
                where t.project_id > project.project_id order by t.project_id limit 1)
         from project
        where project.project_id is not null
     )
     select project_id from project where project_id is not null`,
  );
  return rows.map((row) => row.project_id);
}

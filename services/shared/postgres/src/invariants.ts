import type { Queryable } from "./queryable.ts";

/** A chunk of rows: those after the id `after`, at most `limit` of them. */
export type ChunkRequest = {
  readonly projectId: string;
  readonly after: string;
  readonly limit: number;
};

export type Violation = { readonly subject: string; readonly details: string };

export type Chunk = {
  readonly checked: number;
  /** Where the next chunk continues; null for the last chunk. */
  readonly last: string | null;
  readonly violations: readonly Violation[];
};

/**
 * A statement that must hold for every row at any time (docs/operations.md#invariants). Each chunk
 * is read by one statement, and so from one snapshot: concurrent commits do not appear as
 * violations.
 */
export type InvariantCheck = {
  readonly name: string;
  readonly states: string;
  readonly checkChunk: (db: Queryable, request: ChunkRequest) => Promise<Chunk>;
};

/**
 * A check by one statement over project `$1`, rows after id `$2`, and at most `$3` rows: it returns
 * the id of each row, and its violation or null.
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
 * Every project with a row in `table`, also projects that the gateway has deleted. Skips along the
 * primary key, which starts with project_id, and reads one row per project.
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

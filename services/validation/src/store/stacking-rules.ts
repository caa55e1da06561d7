import type { DefinitionKey, Queryable } from "@scrip/postgres";

import type { StackingOptions } from "../domain/stacking/stacking-rules.ts";

export type StackingRulesRow = {
  readonly id: string;
  /** Only the configured options; all others have their default. */
  readonly options: StackingOptions;
  readonly created_at: Date;
  readonly updated_at: Date | null;
};

export async function findStackingRules(
  db: Queryable,
  projectId: string,
): Promise<StackingRulesRow | undefined> {
  const { rows } = await db.query<StackingRulesRow>(
    "select id, options, created_at, updated_at from stacking_rules where project_id = $1",
    [projectId],
  );
  return rows[0];
}

/** For the cache: the options of each project, in the order of the keys. */
export async function findStackingOptions(
  db: Queryable,
  keys: readonly DefinitionKey[],
): Promise<readonly (StackingOptions | undefined)[]> {
  const { rows } = await db.query<{ project_id: string; options: StackingOptions }>({
    name: "find_stacking_options",
    planning: "indexLookups",
    text: "select project_id, options from stacking_rules where project_id = any($1::text[])",
    values: [keys.map(({ projectId }) => projectId)],
  });
  const found = new Map(rows.map(({ project_id: id, options }) => [id, options]));
  return keys.map(({ projectId }) => found.get(projectId));
}

/** Reads and locks the row, so that updates are serialized. */
export async function lockStackingRules(
  tx: Queryable,
  projectId: string,
  id?: string,
): Promise<StackingRulesRow | undefined> {
  const { rows } = await tx.query<StackingRulesRow>(
    `select id, options, created_at, updated_at
       from stacking_rules
      where project_id = $1 and id = coalesce($2, id)
        for no key update`,
    [projectId, id],
  );
  return rows[0];
}

/** Returns false if the project already has stacking rules. */
export async function insertStackingRules(
  db: Queryable,
  projectId: string,
  row: StackingRulesRow,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into stacking_rules (project_id, id, options, created_at, updated_at)
     values ($1, $2, $3, $4, $5)
     on conflict (project_id) do nothing`,
    [projectId, row.id, JSON.stringify(row.options), row.created_at, row.updated_at],
  );
  return rowCount === 1;
}

export async function updateStackingRules(
  tx: Queryable,
  projectId: string,
  { id, options, updated_at }: StackingRulesRow,
): Promise<void> {
  await tx.query(
    "update stacking_rules set options = $3, updated_at = $4 where project_id = $1 and id = $2",
    [projectId, id, JSON.stringify(options), updated_at],
  );
}

/** Returns whether a row was deleted. */
export async function deleteStackingRules(
  db: Queryable,
  projectId: string,
  id?: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    "delete from stacking_rules where project_id = $1 and id = coalesce($2, id)",
    [projectId, id],
  );
  return rowCount === 1;
}

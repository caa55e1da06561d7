import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import {
  batchOf,
  buildStatement,
  column,
  columnNames,
  type ColumnTable,
  type DefinitionKey,
  projectIdPart,
  type ProjectQueryable,
  type Queryable,
  readPage,
} from "@scrip/postgres";

import { sortingOf } from "./sorting.ts";

/** Types of objects whose assignments are stored here. */
export type ObjectType = "voucher" | "campaign" | "promotion_tier" | "reward_assignment";

export type AssignmentRow = {
  readonly id: string;
  readonly rule_id: string;
  readonly object_type: string;
  readonly object_id: string;
  readonly created_at: Date;
};

const columns: ColumnTable<AssignmentRow> = {
  id: column.text(({ id }) => id),
  rule_id: column.text((row) => row.rule_id),
  object_type: column.text((row) => row.object_type),
  object_id: column.text((row) => row.object_id),
  created_at: column.timestamp((row) => row.created_at.getTime()),
};

const COLUMNS = columnNames(columns);

/**
 * Returns the ids of new assignments; existing ones and a second rule of a campaign are skipped.
 * The rules must be locked.
 */
export async function insertAssignments(
  tx: Queryable,
  projectId: string,
  rows: readonly AssignmentRow[],
): Promise<readonly string[]> {
  const { rows: inserted } = await tx.query<{ id: string }>(insertStatement({ projectId, rows }));
  return inserted.map(({ id }) => id);
}

const insertStatement = buildStatement({
  parts: { projectId: projectIdPart, rows: batchOf(columns) },
  text: ({ projectId, rows }) => `
    insert into validation_rule_assignment (${projectId.columns}, ${rows.columns})
    select ${projectId.values}, ${rows.columns} from ${rows.rows("one")}
        on conflict do nothing
    returning id`,
});

/** Returns whether the assignment existed. */
export async function deleteAssignment(
  tx: Queryable,
  projectId: string,
  { ruleId, id }: { readonly ruleId: string; readonly id: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `delete from validation_rule_assignment
      where project_id = $1 and rule_id = $2 and id = $3`,
    [projectId, ruleId, id],
  );
  return rowCount === 1;
}

export async function deleteAssignments(
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<void> {
  await tx.query(
    "delete from validation_rule_assignment where project_id = $1 and id = any($2::text[])",
    [projectId, ids],
  );
}

export async function deleteAssignmentsOfObjects(
  tx: Queryable,
  projectId: string,
  objectIds: readonly string[],
): Promise<void> {
  await tx.query(
    "delete from validation_rule_assignment where project_id = $1 and object_id = any($2::text[])",
    [projectId, objectIds],
  );
}

export async function findObjectsWithRules(
  db: Queryable,
  objects: readonly DefinitionKey[],
): Promise<readonly DefinitionKey[]> {
  if (objects.length === 0) return [];
  const { rows } = await db.query<{ project_id: string; object_id: string }>(
    `select distinct project_id, object_id
       from unnest($1::text[], $2::text[]) as requested (project_id, object_id)
       join validation_rule_assignment using (project_id, object_id)`,
    [objects.map(({ projectId }) => projectId), objects.map(({ key }) => key)],
  );
  return rows.map((row) => ({ projectId: row.project_id, key: row.object_id }));
}

/** The assignments of one object, oldest first. */
export async function findAssignmentsOfObject(
  db: Queryable,
  projectId: string,
  objectId: string,
): Promise<readonly AssignmentRow[]> {
  const { rows } = await db.query<AssignmentRow>(
    `select ${COLUMNS} from validation_rule_assignment
      where project_id = $1 and object_id = $2
      order by created_at, id`,
    [projectId, objectId],
  );
  return rows;
}

const SORTABLE = { created_at: "created_at" };

export type AssignmentListing = {
  readonly projectId: string;
  /** Lists only the assignments of this rule. */
  readonly ruleId?: string | undefined;
  /** Lists only the assignments of this object. */
  readonly objectId?: string | undefined;
  readonly created?: TimeRange;
  /** Assignments that are stored elsewhere, few of them; the same conditions apply. */
  readonly others?: readonly AssignmentRow[];
  readonly order: string;
  readonly limit: number;
  readonly offset: number;
};

/** One page and the total number of assignments. Ties are sorted by id. */
export async function listAssignments(
  db: ProjectQueryable,
  { projectId, ruleId, objectId, created, others = [], order, limit, offset }: AssignmentListing,
): Promise<{ readonly rows: readonly AssignmentRow[]; readonly total: bigint }> {
  const values: unknown[] = [projectId];
  const conditions = ["project_id = $1"];
  if (ruleId !== undefined) conditions.push(`rule_id = $${values.push(ruleId)}`);
  if (objectId !== undefined) conditions.push(`object_id = $${values.push(objectId)}`);
  conditions.push(...timeRangeConditions("created_at", created, values));
  return readPage<AssignmentRow>(db, {
    projectId,
    columns: COLUMNS,
    from: `from ${sourceOf(others, values)} where ${conditions.join(" and ")}`,
    order: sortingOf(order, SORTABLE),
    values,
    limit,
    offset,
  });
}

/** SQL: the table with `others`. */
function sourceOf(others: readonly AssignmentRow[], values: unknown[]): string {
  if (others.length === 0) return "validation_rule_assignment";
  const bind = (value: unknown): string => `$${values.push(value)}`;
  return `(select project_id, ${COLUMNS} from validation_rule_assignment
            union all
           select $1, * from unnest(${[
             `${bind(others.map(({ id }) => id))}::text[]`,
             `${bind(others.map((row) => row.rule_id))}::text[]`,
             `${bind(others.map((row) => row.object_type))}::text[]`,
             `${bind(others.map((row) => row.object_id))}::text[]`,
             `${bind(others.map((row) => row.created_at))}::timestamptz[]`,
           ].join(", ")})) as assignment (project_id, ${COLUMNS})`;
}

/** For the cache: the assignments of each object, oldest first, in the order of the keys. */
export async function findAssignmentsOfObjects(
  db: Queryable,
  keys: readonly DefinitionKey[],
): Promise<readonly (readonly AssignmentRow[] | undefined)[]> {
  // Written as a range and sorted, so that only the index of objects fits: the cached plan of a
  // small table would read all rows of the project.
  const { rows } = await db.query<AssignmentRow & { position: bigint }>({
    name: "find_assignments_of_objects",
    planning: "indexLookups",
    text: `select position, found.*
             from unnest($1::text[], $2::text[])
                  with ordinality as requested (project_id, key, position)
            cross join lateral (
                    select ${COLUMNS} from validation_rule_assignment
                     where project_id = requested.project_id and object_id between requested.key and requested.key
                     order by object_id, rule_id
                  ) found
            order by position, created_at, id`,
    values: [keys.map(({ projectId }) => projectId), keys.map(({ key }) => key)],
  });
  return grouped(rows, keys.length);
}

/**
 * For the cache: all assignments of each project, oldest first, in the order of the keys. Reads at
 * most `limit + 1` per project, which shows that there are more.
 */
export async function findAssignmentsOfProjects(
  db: Queryable,
  keys: readonly DefinitionKey[],
  limit: number,
): Promise<readonly (readonly AssignmentRow[] | undefined)[]> {
  const { rows } = await db.query<AssignmentRow & { position: bigint }>({
    name: "find_assignments_of_projects",
    planning: "indexLookups",
    text: `select position, found.*
             from unnest($1::text[]) with ordinality as requested (project_id, position)
             cross join lateral (
               select ${COLUMNS} from validation_rule_assignment assignment
                where assignment.project_id = requested.project_id
                order by created_at, id
                limit $2) as found
            order by position, created_at, id`,
    values: [keys.map(({ projectId }) => projectId), limit + 1],
  });
  return grouped(rows, keys.length);
}

function grouped(
  rows: readonly (AssignmentRow & { readonly position: bigint })[],
  length: number,
): readonly (readonly AssignmentRow[] | undefined)[] {
  const groups = Array.from({ length }, (): AssignmentRow[] | undefined => undefined);
  for (const { position, ...row } of rows) {
    const index = Number(position) - 1;
    const group = groups[index];
    if (group === undefined) groups[index] = [row];
    else group.push(row);
  }
  return groups;
}

import {
  column,
  columnNames,
  type ColumnTable,
  insertInto,
  type Queryable,
  textArray,
} from "@scrip/postgres";

import type { PropertyDefinitions } from "../domain/custom-event-schema.ts";

export type EventSchemaRow = {
  readonly id: string;
  readonly name: string;
  readonly properties: PropertyDefinitions;
  readonly created_at: Date;
  readonly updated_at: Date | null;
};

const columns: ColumnTable<EventSchemaRow> = {
  name: column.text(({ name }) => name),
  properties: column.json(({ properties }) => JSON.stringify(properties)),
  created_at: column.timestamp((row) => row.created_at.getTime()),
  updated_at: column.timestamp((row) => row.updated_at && row.updated_at.getTime()),
};

const COLUMNS = `id, ${columnNames(columns)}`;

/** Counts the schemas of a project. Concurrent creations wait until the transaction ends, so that the limit holds. */
export async function countEventSchemas(tx: Queryable, projectId: string): Promise<bigint> {
  await tx.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [
    `custom event schema ${projectId}`,
  ]);
  const { rows } = await tx.query<{ total: bigint }>(
    "select count(*) as total from custom_event_schema where project_id = $1",
    [projectId],
  );
  return rows[0]?.total ?? 0n;
}

const insertStatement = insertInto("custom_event_schema", columns);

/** Violates `custom_event_schema_name` when the name has a schema. */
export async function insertEventSchema(
  tx: Queryable,
  projectId: string,
  row: EventSchemaRow,
): Promise<void> {
  await tx.query(insertStatement(projectId, row));
}

export async function findEventSchema(
  db: Queryable,
  { projectId, id, lock = false }: { projectId: string; id: string; lock?: boolean },
): Promise<EventSchemaRow | undefined> {
  const { rows } = await db.query<EventSchemaRow>(
    `select ${COLUMNS} from custom_event_schema where project_id = $1 and id = $2
     ${lock ? "for no key update" : ""}`,
    [projectId, id],
  );
  return rows[0];
}

export async function updateEventSchema(
  tx: Queryable,
  projectId: string,
  { id, properties, updated_at }: EventSchemaRow,
): Promise<void> {
  await tx.query(
    `update custom_event_schema set properties = $3, updated_at = $4
      where project_id = $1 and id = $2`,
    [projectId, id, JSON.stringify(properties), updated_at],
  );
}

export async function deleteEventSchema(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<void> {
  await tx.query("delete from custom_event_schema where project_id = $1 and id = $2", [
    projectId,
    id,
  ]);
}

/** All schemas of a project, newest first: at most a hundred. */
export async function listEventSchemas(
  db: Queryable,
  projectId: string,
): Promise<readonly EventSchemaRow[]> {
  const { rows } = await db.query<EventSchemaRow>(
    `select ${COLUMNS} from custom_event_schema where project_id = $1
      order by created_at desc, id desc`,
    [projectId],
  );
  return rows;
}

/** The schemas of each project, in the order of the projects. */
export async function findProjectEventSchemas(
  db: Queryable,
  projectIds: readonly string[],
): Promise<readonly (readonly EventSchemaRow[])[]> {
  const { rows } = await db.query<EventSchemaRow & { project_id: string }>(
    `select project_id, ${COLUMNS} from custom_event_schema where project_id = any($1::text[])`,
    [textArray(projectIds)],
  );
  const byProject = Map.groupBy(rows, (row) => row.project_id);
  return projectIds.map((projectId) => byProject.get(projectId) ?? []);
}

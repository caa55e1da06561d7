import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import type { Definitions, MetadataSchema } from "@scrip/metadata";
import {
  column,
  columnNames,
  type ColumnTable,
  type DefinitionKey,
  type ProjectQueryable,
  type Queryable,
  insertInto,
  updateOf,
} from "@scrip/postgres";

type Row = {
  project_id: string;
  id: string;
  related_object: string;
  properties: Definitions;
  allow_defined_only: boolean;
  created_at: Date;
  updated_at: Date | null;
};

const editableColumns: ColumnTable<MetadataSchema> = {
  properties: column.json(({ properties }) => JSON.stringify(properties)),
  allow_defined_only: column.bool(({ allowDefinedOnly }) => allowDefinedOnly),
  updated_at: column.timestamp(({ updatedAt }) => updatedAt && updatedAt.getTime()),
};

const permanentColumns: ColumnTable<MetadataSchema> = {
  related_object: column.text(({ relatedObject }) => relatedObject),
  created_at: column.timestamp(({ createdAt }) => createdAt.getTime()),
};

const COLUMNS = `project_id, id, ${columnNames({ ...editableColumns, ...permanentColumns })}`;

/** The schemas of a project, newest first; their number is bounded. */
export async function listMetadataSchemas(
  db: ProjectQueryable,
  projectId: string,
  createdAt?: TimeRange,
): Promise<readonly MetadataSchema[]> {
  const values: unknown[] = [projectId];
  const conditions = ["project_id = $1", ...timeRangeConditions("created_at", createdAt, values)];
  const { rows } = await db.inProject(projectId).query<Row>(
    `select ${COLUMNS} from metadata_schema
      where ${conditions.join(" and ")}
      order by created_at desc, id desc`,
    values,
  );
  return rows.map(metadataSchemaFromRow);
}

export async function findMetadataSchema(
  db: Queryable,
  projectId: string,
  key: { readonly column: "id" | "related_object"; readonly value: string },
): Promise<MetadataSchema | undefined> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from metadata_schema where project_id = $1 and ${key.column} = $2`,
    [projectId, key.value],
  );
  return rows[0] && metadataSchemaFromRow(rows[0]);
}

/** The schemas of each project, undefined where it has none. */
export async function findSchemasOfProjects(
  db: Queryable,
  keys: readonly DefinitionKey[],
): Promise<readonly (readonly MetadataSchema[] | undefined)[]> {
  const { rows } = await db.query<Row>({
    name: "find_metadata_schemas",
    planning: "indexLookups",
    text: `select ${COLUMNS} from metadata_schema where project_id = any($1::text[])`,
    values: [keys.map(({ projectId }) => projectId)],
  });
  const byProject = Map.groupBy(rows, (row) => row.project_id);
  return keys.map(({ projectId }) => byProject.get(projectId)?.map(metadataSchemaFromRow));
}

export async function insertMetadataSchema(
  tx: Queryable,
  projectId: string,
  schema: MetadataSchema,
): Promise<void> {
  await tx.query(insertStatement(projectId, schema));
}

const insertStatement = insertInto("metadata_schema", { ...editableColumns, ...permanentColumns });

export async function updateMetadataSchema(
  tx: Queryable,
  projectId: string,
  schema: MetadataSchema,
): Promise<void> {
  await tx.query(updateStatement(projectId, schema));
}

const updateStatement = updateOf("metadata_schema", editableColumns);

export async function deleteMetadataSchema(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<void> {
  await tx.query("delete from metadata_schema where project_id = $1 and id = $2", [projectId, id]);
}

const metadataSchemaFromRow = (row: Row): MetadataSchema => ({
  id: row.id,
  relatedObject: row.related_object,
  properties: row.properties,
  allowDefinedOnly: row.allow_defined_only,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

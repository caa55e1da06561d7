import type { DefinitionKey, Queryable } from "@scrip/postgres";

import type { Definitions, MetadataSchema } from "../domain/metadata-types.ts";

type Row = {
  project_id: string;
  id: string;
  related_object: string;
  properties: Definitions;
  allow_defined_only: boolean;
  created_at: Date;
  updated_at: Date | null;
};

const COLUMNS =
  "project_id, id, related_object, properties, allow_defined_only, created_at, updated_at";

/** All schemas of a project, newest first; the number is bounded. */
export async function listMetadataSchemas(
  db: Queryable,
  projectId: string,
): Promise<readonly MetadataSchema[]> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from metadata_schema
      where project_id = $1
      order by created_at desc, id desc`,
    [projectId],
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
  await tx.query(`insert into metadata_schema (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7)`, [
    projectId,
    schema.id,
    schema.relatedObject,
    JSON.stringify(schema.properties),
    schema.allowDefinedOnly,
    schema.createdAt,
    schema.updatedAt,
  ]);
}

export async function updateMetadataSchema(
  tx: Queryable,
  projectId: string,
  { id, properties, allowDefinedOnly, updatedAt }: MetadataSchema,
): Promise<void> {
  await tx.query(
    `update metadata_schema
        set properties = $3, allow_defined_only = $4, updated_at = $5
      where project_id = $1 and id = $2`,
    [projectId, id, JSON.stringify(properties), allowDefinedOnly, updatedAt],
  );
}

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

import type { Json } from "./api.ts";
import { type Fixtures, schemaOf } from "./writing-fixtures.ts";

type Writer<Row> = (path: string, body?: Json) => Row;

/** Rows of projects, keys and metadata schemas. */
export function gatewayRows<Row extends object>(
  { apiKey, schema, otherSchemas, otherId }: Fixtures,
  {
    projectId,
    post,
    put,
  }: { readonly projectId: string; readonly post: Writer<Row>; readonly put: Writer<Row> },
): Record<string, Row & { readonly by: "management" }> {
  const path = `/management/v1/projects/${projectId}`;
  const by = { by: "management" as const };
  return {
    "ProjectService.UpdateProject": { ...put(path, { description: "changed" }), ...by },
    "ProjectService.SetClock": { ...put(`${path}/clock`, { now: null }), ...by },
    "ProjectService.BlockApiKey": { ...post(`${path}/api-keys/${apiKey}/block`), ...by },
    "MetadataSchemaService.CreateProjectMetadataSchema": {
      ...post(otherSchemas, schemaOf("reward")),
      effect: {
        sql: `select count(*)::int as count from gateway.metadata_schema
               where project_id = $1 and related_object = 'reward'`,
        values: [otherId],
        count: 1,
      },
      ...by,
    },
    "MetadataSchemaService.UpdateProjectMetadataSchema": {
      ...put(`${otherSchemas}/${schema}`, { properties: { more: { type: "number" } } }),
      ...by,
    },
  };
}

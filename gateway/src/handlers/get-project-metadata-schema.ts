import { notFound } from "@scrip/errors";
import type { MetadataSchemaService } from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { projectMetadataSchemaToProto } from "../mapping/metadata-schema.ts";
import { RESOURCE } from "../metadata-schemas/edit-metadata-schemas.ts";
import { findMetadataSchema } from "../store/metadata-schemas.ts";

export const getProjectMetadataSchema =
  (deps: Deps): Handler<typeof MetadataSchemaService.method.getProjectMetadataSchema> =>
  async ({ projectId, schemaId }) => {
    const key = { column: "id", value: schemaId } as const;
    const schema = await findMetadataSchema(deps.db, projectId, key);
    if (schema === undefined) throw notFound(RESOURCE, schemaId);
    return projectMetadataSchemaToProto(schema);
  };

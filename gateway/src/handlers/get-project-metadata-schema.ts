import { notFound } from "@scrip/errors";
import type { MetadataSchemaService } from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findMetadataSchema } from "../store/metadata-schemas.ts";
import { RESOURCE } from "./edit-metadata-schema.ts";
import { toProjectSchemaMessage } from "./metadata-schema-message.ts";

export const getProjectMetadataSchema =
  (deps: Deps): Handler<typeof MetadataSchemaService.method.getProjectMetadataSchema> =>
  async ({ projectId, schemaId }) => {
    const key = { column: "id", value: schemaId } as const;
    const schema = await findMetadataSchema(deps.db, projectId, key);
    if (schema === undefined) throw notFound(RESOURCE, schemaId);
    return toProjectSchemaMessage(schema);
  };

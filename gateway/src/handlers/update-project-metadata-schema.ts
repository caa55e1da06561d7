import { notFound } from "@scrip/errors";
import type { MetadataSchemaService } from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { updateMetadataSchema } from "../store/metadata-schemas.ts";
import {
  editSchemas,
  mergedDefinitions,
  refuseUnknownObjectTypes,
  RESOURCE,
} from "./edit-metadata-schema.ts";
import { parseDefinitions, toProjectSchemaMessage } from "./metadata-schema-message.ts";

export const updateProjectMetadataSchema =
  (deps: Deps): Handler<typeof MetadataSchemaService.method.updateProjectMetadataSchema> =>
  async ({ projectId, schemaId, properties, allowDefinedOnly }) => {
    const updated = await editSchemas(deps, projectId, async (tx, schemas) => {
      const before = schemas.find(({ id }) => id === schemaId);
      if (before === undefined) throw notFound(RESOURCE, schemaId);
      const after = {
        ...before,
        properties: mergedDefinitions(before.properties, parseDefinitions(properties)),
        allowDefinedOnly: allowDefinedOnly ?? before.allowDefinedOnly,
        updatedAt: new Date(deps.clock()),
      };
      refuseUnknownObjectTypes(after, schemas);
      await updateMetadataSchema(tx, projectId, after);
      return after;
    });
    return toProjectSchemaMessage(updated);
  };

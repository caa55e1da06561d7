import { notFound } from "@scrip/errors";
import type { MetadataSchemaService } from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { definitionsFromProto, projectMetadataSchemaToProto } from "../mapping/metadata-schema.ts";
import {
  editSchemas,
  mergedDefinitions,
  rejectUnknownObjectTypes,
  RESOURCE,
} from "../metadata-schemas/edit-metadata-schemas.ts";
import { updateMetadataSchema } from "../store/metadata-schemas.ts";

export const updateProjectMetadataSchema =
  (deps: Deps): Handler<typeof MetadataSchemaService.method.updateProjectMetadataSchema> =>
  async ({ projectId, schemaId, properties, allowDefinedOnly }) => {
    const updated = await editSchemas(deps, projectId, async (tx, schemas) => {
      const before = schemas.find(({ id }) => id === schemaId);
      if (before === undefined) throw notFound(RESOURCE, schemaId);
      const after = {
        ...before,
        properties: mergedDefinitions(before.properties, definitionsFromProto(properties)),
        allowDefinedOnly: allowDefinedOnly ?? before.allowDefinedOnly,
        updatedAt: new Date(deps.clock()),
      };
      rejectUnknownObjectTypes(after, schemas);
      await updateMetadataSchema(tx, projectId, after);
      return after;
    });
    return projectMetadataSchemaToProto(updated);
  };

import { duplicate, invalidPayload } from "@scrip/errors";
import type { MetadataSchema } from "@scrip/metadata";
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
import { insertMetadataSchema } from "../store/metadata-schemas.ts";

/** Schemas are listed without pagination and cached together. */
const MAX_SCHEMAS = 100;

export const createProjectMetadataSchema =
  (deps: Deps): Handler<typeof MetadataSchemaService.method.createProjectMetadataSchema> =>
  async ({ projectId, relatedObject, properties, allowDefinedOnly }) => {
    const schema: MetadataSchema = {
      id: deps.newId("ms"),
      relatedObject,
      properties: mergedDefinitions({}, definitionsFromProto(properties)),
      allowDefinedOnly: allowDefinedOnly ?? false,
      createdAt: new Date(deps.clock()),
      updatedAt: null,
    };
    await editSchemas(deps, projectId, async (tx, schemas) => {
      if (schemas.some((other) => other.relatedObject === relatedObject)) {
        throw duplicate(RESOURCE, "name", relatedObject);
      }
      if (schemas.length >= MAX_SCHEMAS) {
        throw invalidPayload(`A project has at most ${MAX_SCHEMAS} metadata schemas`);
      }
      rejectUnknownObjectTypes(schema, schemas);
      await insertMetadataSchema(tx, projectId, schema);
    });
    return projectMetadataSchemaToProto(schema);
  };

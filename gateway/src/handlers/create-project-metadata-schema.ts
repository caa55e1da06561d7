import { duplicate, invalidPayload } from "@scrip/errors";
import type { MetadataSchemaService } from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { MetadataSchema } from "../domain/metadata-schema.ts";
import { insertMetadataSchema } from "../store/metadata-schemas.ts";
import {
  editSchemas,
  mergedDefinitions,
  refuseUnknownObjectTypes,
  RESOURCE,
} from "./edit-metadata-schema.ts";
import { parseDefinitions, toProjectSchemaMessage } from "./metadata-schema-message.ts";

/** Schemas are listed without pages and remembered together. */
const MAX_SCHEMAS = 100;

export const createProjectMetadataSchema =
  (deps: Deps): Handler<typeof MetadataSchemaService.method.createProjectMetadataSchema> =>
  async ({ projectId, relatedObject, properties, allowDefinedOnly }) => {
    const schema: MetadataSchema = {
      id: deps.newId("ms"),
      relatedObject,
      properties: mergedDefinitions({}, parseDefinitions(properties)),
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
      refuseUnknownObjectTypes(schema, schemas);
      await insertMetadataSchema(tx, projectId, schema);
    });
    return toProjectSchemaMessage(schema);
  };

import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { notFound, ApiError } from "@scrip/errors";
import type { MetadataSchemaService } from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { objectTypesOf } from "../domain/metadata-schema.ts";
import { editSchemas, RESOURCE } from "../metadata-schemas/edit-metadata-schemas.ts";
import { deleteMetadataSchema } from "../store/metadata-schemas.ts";

export const deleteProjectMetadataSchema =
  (deps: Deps): Handler<typeof MetadataSchemaService.method.deleteProjectMetadataSchema> =>
  async ({ projectId, schemaId }) => {
    await editSchemas(deps, projectId, async (tx, schemas) => {
      const schema = schemas.find(({ id }) => id === schemaId);
      if (schema === undefined) throw notFound(RESOURCE, schemaId);
      const users = schemas.filter(
        ({ id, properties }) =>
          id !== schemaId && objectTypesOf(properties).includes(schema.relatedObject),
      );
      if (users.length > 0) {
        const ids = users.map(({ id }) => id).join(", ");
        throw new ApiError("resource_in_use", {
          details: `Resource ${RESOURCE} with id ${schemaId} is in use by ${RESOURCE}s with ids [${ids}]`,
          resourceId: schemaId,
          resourceType: RESOURCE,
        });
      }
      await deleteMetadataSchema(tx, projectId, schemaId);
    });
    return create(EmptySchema);
  };

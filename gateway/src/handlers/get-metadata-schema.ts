import { notFound } from "@scrip/errors";
import type { MetadataSchemaService } from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { metadataSchemaToProto } from "../mapping/metadata-schema.ts";
import { RESOURCE } from "../metadata-schemas/edit-metadata-schemas.ts";
import { findMetadataSchema } from "../store/metadata-schemas.ts";

export const getMetadataSchema =
  (deps: Deps): Handler<typeof MetadataSchemaService.method.getMetadataSchema> =>
  async ({ resource }, { project }) => {
    const key = { column: "related_object", value: resource } as const;
    const schema = await findMetadataSchema(deps.db, project.id, key);
    if (schema === undefined) throw notFound(RESOURCE, resource);
    return metadataSchemaToProto(schema);
  };

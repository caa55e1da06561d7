import { create } from "@bufbuild/protobuf";
import {
  ListMetadataSchemasResponseSchema,
  type MetadataSchemaService,
} from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { metadataSchemaToProto } from "../mapping/metadata-schema.ts";
import { listMetadataSchemas as listSchemas } from "../store/metadata-schemas.ts";

export const listMetadataSchemas =
  (deps: Deps): Handler<typeof MetadataSchemaService.method.listMetadataSchemas> =>
  async ({ createdAt }, { project }) => {
    const schemas = await listSchemas(deps.db, project.id, createdAt);
    return create(ListMetadataSchemasResponseSchema, {
      schemas: schemas.map(metadataSchemaToProto),
      total: BigInt(schemas.length),
    });
  };

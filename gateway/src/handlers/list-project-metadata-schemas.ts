import { create } from "@bufbuild/protobuf";
import { notFound } from "@scrip/errors";
import {
  ListProjectMetadataSchemasResponseSchema,
  type MetadataSchemaService,
} from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { projectMetadataSchemaToProto } from "../mapping/metadata-schema.ts";
import { listMetadataSchemas } from "../store/metadata-schemas.ts";
import { findProject } from "../store/projects.ts";

export const listProjectMetadataSchemas =
  (deps: Deps): Handler<typeof MetadataSchemaService.method.listProjectMetadataSchemas> =>
  async ({ projectId, createdAt }) => {
    const [project, schemas] = await Promise.all([
      findProject(deps.db, projectId),
      listMetadataSchemas(deps.db, projectId, createdAt),
    ]);
    if (project === undefined) throw notFound("project", projectId);
    return create(ListProjectMetadataSchemasResponseSchema, {
      data: schemas.map(projectMetadataSchemaToProto),
      total: BigInt(schemas.length),
    });
  };

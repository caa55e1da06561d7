import { create } from "@bufbuild/protobuf";
import { notFound } from "@scrip/errors";
import { inTimeRange } from "@scrip/filters";
import {
  ListApiKeysResponseSchema,
  type ProjectService,
} from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { apiKeyToProto } from "../mapping/project.ts";
import { listApiKeys as listKeys } from "../store/api-keys.ts";
import { findProject } from "../store/projects.ts";

export const listApiKeys =
  (deps: Deps): Handler<typeof ProjectService.method.listApiKeys> =>
  async ({ projectId, createdAt }) => {
    if ((await findProject(deps.db, projectId)) === undefined) throw notFound("project", projectId);
    const all = await listKeys(deps.db, projectId);
    const keys = all.filter((key) => inTimeRange(key.createdAt, createdAt));
    return create(ListApiKeysResponseSchema, {
      data: keys.map((key) => apiKeyToProto(key)),
      total: BigInt(keys.length),
    });
  };

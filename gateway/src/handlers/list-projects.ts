import { create } from "@bufbuild/protobuf";
import {
  ListProjectsResponseSchema,
  type ProjectService,
} from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { projectToProto } from "../mapping/project.ts";
import { countProjects, listProjects as listPage } from "../store/projects.ts";

const DEFAULT_LIMIT = 10n;

export const listProjects =
  (deps: Deps): Handler<typeof ProjectService.method.listProjects> =>
  async (request) => {
    const limit = Number(request.limit ?? DEFAULT_LIMIT);
    const offset = (Number(request.page ?? 1n) - 1) * limit;
    const projects = await listPage(deps.db, { limit, offset, createdAt: request.createdAt });
    return create(ListProjectsResponseSchema, {
      data: projects.map((project) => projectToProto(project)),
      total: await countProjects(deps.db, request.createdAt),
    });
  };

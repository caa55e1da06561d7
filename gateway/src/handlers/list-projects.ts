import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
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
    const range = {
      after: dateOf(request.createdAt?.after),
      before: dateOf(request.createdAt?.before),
    };
    const projects = await listPage(deps.db, range, { limit, offset });
    return create(ListProjectsResponseSchema, {
      data: projects.map((project) => projectToProto(project)),
      total: await countProjects(deps.db, range),
    });
  };

const dateOf = (time: Timestamp | undefined): Date | null =>
  time === undefined ? null : timestampDate(time);

import { notFound } from "@scrip/errors";
import type { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { projectToProto } from "../mapping/project.ts";
import { findProject } from "../store/projects.ts";

export const getProject =
  (deps: Deps): Handler<typeof ProjectService.method.getProject> =>
  async ({ projectId }) => {
    const project = await findProject(deps.db, projectId);
    if (project === undefined) throw notFound("project", projectId);
    return projectToProto(project);
  };

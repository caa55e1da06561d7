import { notFound } from "@scrip/errors";
import type { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { publishProjects } from "../projects/publish-projects.ts";
import { deleteProject as endProject } from "../store/projects.ts";

export const deleteProject =
  (deps: Deps): Handler<typeof ProjectService.method.deleteProject> =>
  async ({ projectId }) => {
    const at = new Date(deps.clock());
    const ended = await deps.db.transaction(async (tx) => {
      const project = await endProject(tx, projectId, at);
      if (project !== undefined) await publishProjects(tx, [{ ...project, deleted: true }]);
      return project !== undefined;
    });
    deps.onEvents();
    await deps.credentialCache.evictProject(projectId);
    if (!ended) throw notFound("project", projectId);
    return { $typeName: "google.protobuf.Empty" };
  };

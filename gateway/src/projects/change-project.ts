import { notFound } from "@scrip/errors";

import type { Deps } from "../deps.ts";
import type { Project } from "../domain/project.ts";
import { lockProject, updateProject } from "../store/projects.ts";
import { publishProjects } from "./publish-projects.ts";

/** Changes a project and publishes its new version in one transaction. */
export async function changeProject(
  deps: Pick<Deps, "db" | "credentialCache" | "clock" | "onEvents">,
  projectId: string,
  change: (before: Project) => Project,
): Promise<Project> {
  const changed = await deps.db.transaction(async (tx) => {
    const before = await lockProject(tx, projectId);
    if (before === undefined) throw notFound("project", projectId);
    const after = {
      ...change(before),
      version: before.version + 1n,
      updatedAt: new Date(deps.clock()),
    };
    await updateProject(tx, after);
    await publishProjects(tx, [{ ...after, deleted: false }]);
    return after;
  });
  deps.onEvents();
  await deps.credentialCache.evictProject(projectId);
  return changed;
}

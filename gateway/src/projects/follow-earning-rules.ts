import type { Deps } from "../deps.ts";
import { lockProject, updateProject } from "../store/projects.ts";
import { publishProjects } from "./publish-projects.ts";

/** Stores that a project has earning rules, and publishes it to the services. */
export type FollowEarningRules = (projectId: string) => Promise<void>;

export const createFollowEarningRules =
  (deps: Pick<Deps, "db" | "credentialCache" | "onEvents">): FollowEarningRules =>
  async (projectId) => {
    await deps.db.transaction(async (tx) => {
      const project = await lockProject(tx, projectId);
      if (project === undefined || project.hasEarningRules) return;
      const changed = { ...project, hasEarningRules: true, version: project.version + 1n };
      await updateProject(tx, changed);
      await publishProjects(tx, [{ ...changed, deleted: false }]);
    });
    deps.onEvents();
    await deps.credentialCache.evictProject(projectId);
  };

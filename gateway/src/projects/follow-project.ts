import type { Deps } from "../deps.ts";
import type { Project } from "../domain/project.ts";
import { lockProject, updateProject } from "../store/projects.ts";
import { publishProjects } from "./publish-projects.ts";

/** Facts that another service owns, and that all services need to know about a project. */
type Followed = Partial<Pick<Project, "webhookEvents" | "hasEarningRules">>;

/** Stores a change that another service has made in a project, and publishes it to all services; undefined: none. */
export type FollowProject = (
  projectId: string,
  load: (project: Project) => Promise<Followed | undefined>,
) => Promise<void>;

/** `load` runs while the project is locked: of concurrent changes, the last one stores what all of them have left. */
export const createFollowProject =
  (deps: Pick<Deps, "db" | "credentialCache" | "onEvents">): FollowProject =>
  async (projectId, load) => {
    await deps.db.transaction(async (tx) => {
      const project = await lockProject(tx, projectId);
      const followed = project && (await load(project));
      if (project === undefined || followed === undefined) return;
      const changed = { ...project, ...followed, version: project.version + 1n };
      await updateProject(tx, changed);
      await publishProjects(tx, [{ ...changed, deleted: false }]);
    });
    deps.onEvents();
    await deps.credentialCache.evictProject(projectId);
  };

/** The change of a project in which an earning rule was written. */
export const followEarningRules: Parameters<FollowProject>[1] = async ({ hasEarningRules }) =>
  hasEarningRules ? undefined : { hasEarningRules: true };

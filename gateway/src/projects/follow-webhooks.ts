import type { Deps } from "../deps.ts";
import { lockProject, updateProject } from "../store/projects.ts";
import { publishProjects } from "./publish-projects.ts";

/** Stores which events the webhooks of a project receive, and publishes them to the services. */
export type FollowWebhooks = (
  projectId: string,
  load: () => Promise<readonly string[]>,
) => Promise<void>;

/**
 * `load` runs while the project is locked: of concurrent changes of webhooks, the last one stores what all of them have
 * left.
 */
export const createFollowWebhooks =
  (deps: Pick<Deps, "db" | "credentialCache" | "onEvents">): FollowWebhooks =>
  async (projectId, load) => {
    await deps.db.transaction(async (tx) => {
      const project = await lockProject(tx, projectId);
      if (project === undefined) return;
      const webhookEvents = [...new Set(await load())].toSorted();
      if (webhookEvents.join() === project.webhookEvents.join()) return;
      const changed = { ...project, webhookEvents, version: project.version + 1n };
      await updateProject(tx, changed);
      await publishProjects(tx, [{ ...changed, deleted: false }]);
    });
    deps.onEvents();
    await deps.credentialCache.evictProject(projectId);
  };

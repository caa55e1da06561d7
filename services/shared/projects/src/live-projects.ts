import type { DeliveredEvent, EventBus, EventHandler } from "@scrip/events";

import type { ProjectCache } from "./project-cache.ts";

/** The bus without the events of deleted projects. An unknown project is not deleted. */
export const ofLiveProjects = (bus: EventBus, projects: ProjectCache): EventBus => ({
  ...bus,
  subscribe: (options) =>
    bus.subscribe({ ...options, handler: liveOnly(options.handler, projects) }),
});

const liveOnly =
  (handler: EventHandler, projects: ProjectCache): EventHandler =>
  async (batch, context) => {
    const live = await withoutDeleted(batch, projects);
    if (live.length > 0) await handler(live, context);
  };

async function withoutDeleted(
  batch: readonly DeliveredEvent[],
  projects: ProjectCache,
): Promise<readonly DeliveredEvent[]> {
  const ids = [...new Set(batch.map(({ projectId }) => projectId))];
  const deleted = await Promise.all(
    ids.map(async (id) => (await projects.get(id)).state?.deleted === true),
  );
  if (!deleted.includes(true)) return batch;
  const gone = new Set(ids.filter((_, at) => deleted[at]));
  return batch.filter(({ projectId }) => !gone.has(projectId));
}

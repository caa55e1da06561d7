import { currentTime } from "@scrip/clock";
import { type EventHandler, projectVersionOf } from "@scrip/events";
import { type FindProject, type ProjectQuery, REQUEST_DEADLINE_MS } from "@scrip/rpc";

/**
 * Waits until projects, at the versions that are known, have arrived in the service's table. The wait is bounded: a
 * project that never arrives does not stop a consumer or job.
 */
export async function awaitProjects(
  findProject: FindProject,
  projects: readonly Pick<ProjectQuery, "projectId" | "version">[],
): Promise<void> {
  const versions = new Map<string, bigint | undefined>();
  for (const { projectId, version } of projects) {
    const known = versions.get(projectId);
    versions.set(projectId, known === undefined || (version ?? 0n) > known ? version : known);
  }
  const deadline = currentTime() + REQUEST_DEADLINE_MS;
  await Promise.all(
    [...versions].map(async ([projectId, version]) =>
      findProject({ projectId, version, deadline }),
    ),
  );
}

/**
 * Handlers, in turn, that read settings and clocks of projects: the changes of a project are on another topic than the events
 * of the requests that followed, and may arrive later. When one fails, the batch is delivered to all of them again.
 */
export const afterProjects =
  (findProject: FindProject, ...handlers: readonly EventHandler[]): EventHandler =>
  async (batch, context) => {
    await awaitProjects(
      findProject,
      batch.map((event) => ({ projectId: event.projectId, version: projectVersionOf(event) })),
    );
    for (const handler of handlers) await handler(batch, context);
  };

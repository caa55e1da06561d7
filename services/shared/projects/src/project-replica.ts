import type { EventBus } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import type { FindProject } from "@scrip/rpc";

import { createFindProject } from "./find-project.ts";
import { ofLiveProjects } from "./live-projects.ts";
import { onProject, PROJECTS_TOPIC } from "./on-project.ts";
import { createProjectCache } from "./project-cache.ts";

/**
 * The projects that a service knows, in its table `project`
 * (services/decisions/0027-projects-replicated-to-services.md).
 */
export type ProjectReplica = AsyncDisposable & {
  readonly findProject: FindProject;
  /** The bus for the service's consumers: without the events of deleted projects. */
  readonly bus: EventBus;
};

export type ProjectReplicaOptions = {
  readonly db: Database;
  readonly bus: EventBus;
  /** The consumer group that stores the projects. */
  readonly group: string;
};

const now = (): number => performance.now();

const CLOSE_MS = 3_000;

/** Consumes the changes of projects into the service's table until disposed. */
export async function startProjectReplica({
  db,
  bus,
  group,
}: ProjectReplicaOptions): Promise<ProjectReplica> {
  const cache = createProjectCache(db, now);
  const changes = await bus.subscribe({
    group,
    topics: [PROJECTS_TOPIC],
    handler: onProject(db, cache.evict),
  });
  return {
    findProject: createFindProject({ cache, poll: changes.poll, now }),
    bus: ofLiveProjects(bus, cache),
    [Symbol.asyncDispose]: () => changes.close(CLOSE_MS),
  };
}

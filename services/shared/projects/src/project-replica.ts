import type { EventBus } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import type { FindProject, ProjectQuery } from "@scrip/rpc";
import type { Metrics } from "@scrip/telemetry";

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
  /** Default: nothing is measured. */
  readonly metrics?: Metrics | undefined;
  readonly onError: (error: Error) => void;
};

const now = (): number => performance.now();

const CLOSE_MS = 3_000;

/** Consumes the changes of projects into the service's table until disposed. */
export async function startProjectReplica({
  db,
  bus,
  group,
  metrics,
  onError,
}: ProjectReplicaOptions): Promise<ProjectReplica> {
  const cache = createProjectCache(db, now);
  const changes = await bus.subscribe({
    group,
    topics: [PROJECTS_TOPIC],
    handler: onProject(db, cache.evict),
  });
  const late = metrics?.counter({
    name: "late_projects_total",
    help: "Projects whose change a service has not received in time",
  });
  const onLate = ({ projectId, version }: ProjectQuery): void => {
    late?.inc();
    const state = version === undefined ? "" : ` at version ${version}`;
    onError(new Error(`${group} has waited in vain for ${projectId}${state}`));
  };
  return {
    findProject: createFindProject({ cache, poll: changes.poll, onLate, now }),
    bus: ofLiveProjects(bus, cache),
    [Symbol.asyncDispose]: () => changes.close(CLOSE_MS),
  };
}

import type { ProjectContext } from "./call.ts";

/** What a service knows about a project (services/decisions/0027-projects-replicated-to-services.md). */
export type ProjectState = {
  readonly project: ProjectContext;
  /** Time of the sandbox clock in epoch milliseconds; null for real time. */
  readonly sandboxNow: number | null;
  readonly deleted: boolean;
};

export type ProjectQuery = {
  readonly projectId: string;
  /** The version that the caller has seen; undefined: any. */
  readonly version: bigint | undefined;
  /** Epoch milliseconds after which the caller does not wait for the response. */
  readonly deadline: number;
};

/**
 * Reads a project from the service's replica; undefined if it does not exist. Waits a short time for
 * a project or version that has not arrived yet. Synchronous when cached.
 */
export type FindProject = (
  query: ProjectQuery,
) => ProjectState | undefined | Promise<ProjectState | undefined>;

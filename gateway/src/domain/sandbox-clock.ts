import { ApiError } from "@scrip/errors";

import type { Project } from "./project.ts";

/**
 * Freezes the clock of a sandbox project at a time; null returns to real time
 * (docs/operations.md#sandbox-clock).
 */
export function setSandboxClock(project: Project, now: number | null): Project {
  if (project.sandbox) return { ...project, sandboxNow: now };
  throw new ApiError("forbidden", { details: "Only a sandbox project has a clock of its own" });
}

/** The current time of a project in epoch milliseconds: its sandbox clock, or real time. */
export const currentTimeOf = (
  project: Pick<Project, "sandboxNow"> | undefined,
  realNow: number,
): number => project?.sandboxNow ?? realNow;

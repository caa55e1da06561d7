import type { ApiError } from "@scrip/errors";

import { PROJECT_UNSENT, PROCESS_UNSENT } from "./overload-errors.ts";

export type UnsentResponses = {
  readonly total: () => number;
  /** The error while the responses of the project, or of all, hold too much memory, which counts as a rejection. */
  readonly overloadError: (project: string) => ApiError | undefined;
  readonly mayReject: () => boolean;
  /** Counts the bytes of a response until the returned function is called. */
  readonly hold: (project: string, bytes: number) => () => void;
};

const PROJECT_SHARE = 0.5;

/** Bounds the memory of responses that callers have not received yet. */
export function createUnsentResponses(
  limit: number,
  onReject: (reason: "project" | "process") => void,
): UnsentResponses {
  const ofProjects = new Map<string, number>();
  let total = 0;
  const add = (project: string, bytes: number): void => {
    total += bytes;
    const own = (ofProjects.get(project) ?? 0) + bytes;
    if (own === 0) ofProjects.delete(project);
    else ofProjects.set(project, own);
  };
  return {
    total: () => total,
    mayReject: () => total > limit * PROJECT_SHARE,
    overloadError(project) {
      if ((ofProjects.get(project) ?? 0) > limit * PROJECT_SHARE) {
        onReject("project");
        return PROJECT_UNSENT;
      }
      if (total > limit) {
        onReject("process");
        return PROCESS_UNSENT;
      }
      return undefined;
    },
    hold(project, bytes) {
      add(project, bytes);
      let isHeld = true;
      return () => {
        if (isHeld) add(project, -bytes);
        isHeld = false;
      };
    },
  };
}

import { PROJECT_UNSENT, PROCESS_UNSENT } from "./refusals.ts";

export type UnsentResponses = {
  readonly total: () => number;
  /** Throws while the responses of the project, or of all, hold too much memory. */
  readonly requireRoom: (project: string) => void;
  /** Counts the bytes of a response until the returned function is called. */
  readonly hold: (project: string, bytes: number) => () => void;
};

const PROJECT_SHARE = 0.5;

/** Bounds the memory of responses that callers have not received yet. */
export function createUnsentResponses(
  limit: number,
  onRefusal: (reason: "project" | "process") => void,
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
    requireRoom(project) {
      if ((ofProjects.get(project) ?? 0) > limit * PROJECT_SHARE) {
        onRefusal("project");
        throw PROJECT_UNSENT;
      }
      if (total > limit) {
        onRefusal("process");
        throw PROCESS_UNSENT;
      }
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

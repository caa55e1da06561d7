import { startWokenJob } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { followSegments } from "../segment/follow-segments.ts";

const EVERY_MS = 500;
/** Members of a new segment are found as late. */
const IDLE_MS = 1_000;

/** Evaluates the segments of the type auto-update, until disposed. */
export const startSegmentFollowing = (
  deps: Deps,
  onError: (error: Error) => void,
): ReturnType<typeof startWokenJob> =>
  startWokenJob({
    everyMs: EVERY_MS,
    idleMs: IDLE_MS,
    batch: () => followSegments(deps),
    onError,
  });

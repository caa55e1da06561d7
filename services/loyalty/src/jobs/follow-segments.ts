import { startBatchJob } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { followSegments } from "../segment/follow-segments.ts";

const EVERY_MS = 500;

/** Evaluates the segments of the type auto-update, until disposed. */
export const startSegmentFollowing = (
  deps: Deps,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startBatchJob({ everyMs: EVERY_MS, batch: () => followSegments(deps), onError });

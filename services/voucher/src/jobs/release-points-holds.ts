import { serviceCall, startBatchJob } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { releasePointsHolds } from "../points/release-holds.ts";

/** Longer than any request that might still commit. A later commit is stale and decides again. */
const PENDING_MS = 20_000;
const CHUNK = 500;
const EVERY_MS = 5_000;

/**
 * Releases points holds that a crashed process left without redemption or release. Idempotent, and safe to run in
 * several processes concurrently.
 */
export const startPointsHoldRelease = (
  deps: Pick<Deps, "db" | "cards" | "onError">,
): AsyncDisposable =>
  startBatchJob({
    everyMs: EVERY_MS,
    async batch() {
      const { holds } = await deps.cards.listPendingPointsHolds(
        {
          $typeName: "scrip.loyalty.v1.ListPendingPointsHoldsRequest",
          olderThanMs: BigInt(PENDING_MS),
          limit: BigInt(CHUNK),
        },
        serviceCall(),
      );
      if (holds.length > 0) await releasePointsHolds(deps, holds);
      return holds.length === CHUNK;
    },
    onError: deps.onError,
  });

import { serviceCall, startPeriodicJob } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { releasePointsHolds } from "../points/release-holds.ts";
import { deleteExpiredClaims } from "../store/points-claims.ts";

/** Longer than any request that might still commit; one that does all the same decides again. */
const PENDING_MS = 20_000;
const CHUNK = 500;
const EVERY_MS = 5_000;
/** Longer than any request lives, so that nobody comes with a spend that was given up. */
const CLAIMS_KEPT_HOURS = 48;

/**
 * Ends what a process that died left behind: spends of points that neither a redemption nor its process
 * ended. Several processes may do so at once, and it may be done again.
 */
export const startPointsHoldRelease = (
  deps: Pick<Deps, "db" | "cards" | "onError">,
): AsyncDisposable =>
  startPeriodicJob({
    everyMs: EVERY_MS,
    work: async (signal) => {
      for (let full = true; full && !signal.aborted;) {
        const { holds } = await deps.cards.listPendingPointsHolds(
          {
            $typeName: "scrip.loyalty.v1.ListPendingPointsHoldsRequest",
            olderThanMs: BigInt(PENDING_MS),
            limit: BigInt(CHUNK),
          },
          serviceCall(),
        );
        if (holds.length > 0) {
          await releasePointsHolds(deps, holds);
        }
        full = holds.length === CHUNK;
      }
      await deleteExpiredClaims(deps.db, CLAIMS_KEPT_HOURS, CHUNK);
    },
    onError: deps.onError,
  });

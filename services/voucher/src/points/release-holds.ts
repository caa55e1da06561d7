import { serviceCall } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { releaseHolds, type PointsHoldKey } from "../store/points-claims.ts";

/**
 * Resolves points holds without a redemption (docs/gift-and-points.md#points-holds). The claim in the database decides
 * between this and a late commit: loyalty returns the points only when no commit can use the hold any more, and
 * takes them when a commit was faster.
 */
export async function releasePointsHolds(
  { db, cards }: Pick<Deps, "db" | "cards">,
  holds: readonly PointsHoldKey[],
): Promise<void> {
  const claims = await releaseHolds(db, holds);
  if (claims.length === 0) return;
  await cards.resolvePointsHolds(
    {
      $typeName: "scrip.loyalty.v1.ResolvePointsHoldsRequest",
      resolutions: claims.map(({ projectId, holdId, redemptionId }) => ({
        $typeName: "scrip.loyalty.v1.PointsHoldResolution",
        projectId,
        holdId,
        ...(redemptionId !== null && { redemptionId }),
      })),
    },
    serviceCall(),
  );
}

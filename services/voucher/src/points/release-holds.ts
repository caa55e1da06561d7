import { serviceCall } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { releaseHolds, type PointsHoldKey } from "../store/points-claims.ts";

/**
 * Ends spends whose redemption came to nothing. The claim decides between this and a commit that comes late:
 * only when no commit can use a spend any more are its points given back, and when one was faster they are
 * taken (services/decisions/0020-points-before-the-commit.md).
 */
export async function releasePointsHolds(
  { db, cards }: Pick<Deps, "db" | "cards">,
  spends: readonly PointsHoldKey[],
): Promise<void> {
  const claims = await releaseHolds(db, spends);
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

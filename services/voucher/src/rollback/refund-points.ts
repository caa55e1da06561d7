import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { serviceCall } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { loadCardBalances } from "../loading/card-balances.ts";
import type { CardBalances } from "../mapping/points.ts";
import type { StoredRedemption } from "../store/redemptions.ts";
import type { NewRollback } from "../store/rollbacks.ts";

export type Refund = {
  readonly projectId: string;
  readonly holdId: string;
  readonly redemptionId: string;
  readonly rollbackId: string;
  readonly at: number;
};

/** The balances of the cards of these redemptions, before any of them is rolled back. */
export function loadCardsBefore(
  deps: Deps,
  targets: readonly StoredRedemption[],
): Promise<ReadonlyMap<string, CardBalances>> {
  const questions = targets.flatMap(({ projectId, voucherId, points }) =>
    points === null || voucherId === null
      ? []
      : [{ projectId, cardId: voucherId, initialPoints: points.cardPoints }],
  );
  return loadCardBalances(deps, questions, serviceCall());
}

export const refundsOf = (rollbacks: readonly NewRollback[]): readonly Refund[] =>
  rollbacks.flatMap(({ projectId, id, redemptionId, points, createdAt }) =>
    points === null
      ? []
      : [{ projectId, holdId: points.holdId, redemptionId, rollbackId: id, at: createdAt }],
  );

/**
 * Returns points immediately. When this fails, loyalty returns them on the event of the rollback: the rollback is
 * committed, so the caller gets no error.
 */
export async function refundPoints(deps: Deps, refunds: readonly Refund[]): Promise<void> {
  if (refunds.length === 0) return;
  const request = {
    $typeName: "scrip.loyalty.v1.RefundPointsRequest" as const,
    refunds: refunds.map(({ at, holdId, ...one }) => ({
      $typeName: "scrip.loyalty.v1.PointsRefund" as const,
      ...one,
      holdId,
      now: timestampFromMs(at),
    })),
  };
  try {
    await deps.cards.refundPoints(request, serviceCall());
  } catch (cause) {
    deps.onError(
      new Error("points could not be returned immediately; the rollback event returns them", {
        cause,
      }),
    );
  }
}

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { serviceCall } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { readFigures } from "../loading/card-balances.ts";
import type { CardBalances } from "../mapping/points.ts";
import type { StoredRedemption } from "../store/redemptions.ts";
import type { NewRollback } from "../store/rollbacks.ts";

export type Refund = {
  readonly projectId: string;
  readonly spendId: string;
  readonly redemptionId: string;
  readonly rollbackId: string;
  readonly at: number;
};

/** What the cards of these redemptions have, before any of them is rolled back. */
export function getCardBalances(
  deps: Deps,
  targets: readonly StoredRedemption[],
): Promise<ReadonlyMap<string, CardBalances>> {
  const questions = targets.flatMap(({ projectId, voucherId, points }) =>
    points === null || voucherId === null
      ? []
      : [{ projectId, cardId: voucherId, initialPoints: points.cardPoints }],
  );
  return readFigures(deps, questions, serviceCall());
}

export const refundsOf = (rollbacks: readonly NewRollback[]): readonly Refund[] =>
  rollbacks.flatMap(({ projectId, id, redemptionId, points, createdAt }) =>
    points === null
      ? []
      : [{ projectId, spendId: points.spendId, redemptionId, rollbackId: id, at: createdAt }],
  );

/**
 * Gives points back at once. What fails is given back when the events of the rollbacks arrive: the rollback
 * stands, so nobody is told.
 */
export async function refund(deps: Deps, refunds: readonly Refund[]): Promise<void> {
  if (refunds.length === 0) return;
  const request = {
    $typeName: "scrip.loyalty.v1.RefundPointsRequest" as const,
    refunds: refunds.map(({ at, spendId, ...one }) => ({
      $typeName: "scrip.loyalty.v1.PointsRefund" as const,
      ...one,
      holdId: spendId,
      now: timestampFromMs(at),
    })),
  };
  try {
    await deps.cards.refundPoints(request, serviceCall());
  } catch (cause) {
    deps.onError(new Error("points are given back later, with an event", { cause }));
  }
}

import { create } from "@bufbuild/protobuf";
import { ApiError } from "@scrip/errors";
import type { MovementRejection } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import {
  type BalanceAdjustment,
  BalanceAdjustmentSchema,
} from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { cardReferenceOf, requirePublished } from "./card-reference.ts";

export type PointsAdjustment = {
  readonly points: bigint;
  readonly expirationType: string;
  /** With CUSTOM_DATE: `YYYY-MM-DD`. */
  readonly expirationDate?: string | undefined;
  readonly sourceId?: string | undefined;
  readonly reason?: string | undefined;
};

/** Adjusts the points of a card that has a holder. The loyalty service applies an operation id once. */
export async function adjustPoints(
  deps: Deps,
  card: StoredVoucher,
  { adjustment, call }: { readonly adjustment: PointsAdjustment; readonly call: Call },
): Promise<BalanceAdjustment> {
  const { points } = adjustment;
  requirePublished(card);
  if (points === 0n) {
    throw new ApiError("invalid_amount", { details: "The points to add or remove must not be 0" });
  }
  const { outcome } = await deps.cards.adjustPoints(
    {
      $typeName: "scrip.loyalty.v1.AdjustPointsRequest",
      ...adjustment,
      card: cardReferenceOf(card),
      operationId: deps.newId("vtx"),
    },
    call,
  );
  if (outcome.case !== "moved") {
    throw rejectionError(outcome.value, { code: card.definition.code, removes: points < 0n });
  }
  const { total, balance } = outcome.value;
  return create(BalanceAdjustmentSchema, {
    points,
    total,
    balance,
    type: "loyalty_card",
    operationType: "MANUAL",
    relatedObject: { id: card.definition.id, type: "voucher" },
  });
}

/** The error of a movement that loyalty rejected. */
export function rejectionError(
  rejection: MovementRejection | undefined,
  { code, removes }: { readonly code: string; readonly removes: boolean },
): ApiError {
  const limit = rejection === undefined || rejection.limit < 0n ? 0n : rejection.limit;
  if (rejection?.key === "invalid_expiration_date") {
    return new ApiError("invalid_expiration_date", {
      details: "Expiration date cannot be set in the past",
    });
  }
  return removes && rejection?.key === "loyalty_card_points_exceeded"
    ? new ApiError("loyalty_card_points_exceeded", {
        details: `At most ${limit} points can be taken from ${code}`,
      })
    : new ApiError("invalid_amount", {
        details: `At most ${limit} points can be added to ${code}`,
      });
}

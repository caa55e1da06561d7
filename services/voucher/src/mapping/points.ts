import type {
  RedeemedPoints as PointsMessage,
  Redemption,
  RedemptionReward,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import type { PointsReward, RedeemedPoints } from "../domain/points.ts";

export function pointsFromProto(message: PointsMessage | undefined): RedeemedPoints | null {
  if (message === undefined) return null;
  const { holdId, points, cardPoints, balance, redeemedPoints, reward } = message;
  return {
    holdId,
    points,
    cardPoints,
    balance,
    redeemedPoints,
    reward: reward === undefined ? null : { ...rewardFields(reward), name: reward.name ?? null },
  };
}

const rewardFields = ({ id, type, assignmentId }: RedemptionReward | PointsReward) => ({
  id,
  type,
  assignmentId,
});

/** What a redemption or, with `sign` -1, a rollback tells of points; nothing where there are none. */
export function pointsToProto(
  taken: RedeemedPoints | null,
  sign: 1n | -1n = 1n,
): Pick<Redemption, "loyaltyCard" | "reward"> & { readonly amount?: bigint } {
  if (taken === null) return {};
  const { points, reward } = taken;
  return {
    amount: sign * points,
    loyaltyCard: { $typeName: "scrip.voucher.v1.RedemptionPoints", points: sign * points },
    ...(reward !== null && {
      reward: {
        $typeName: "scrip.voucher.v1.RedemptionReward",
        ...rewardFields(reward),
        ...(reward.name !== null && { name: reward.name }),
      },
    }),
  };
}

export type CardBalances = Pick<RedeemedPoints, "balance" | "redeemedPoints"> & {
  readonly points: bigint;
};

/** The voucher of a card with what the card has. */
export function withCardBalances(voucher: Voucher, figures: CardBalances): Voucher {
  const { points, balance, redeemedPoints } = figures;
  return {
    ...voucher,
    ...(voucher.loyaltyCard !== undefined && {
      loyaltyCard: { ...voucher.loyaltyCard, points, balance },
    }),
    ...(voucher.redemption !== undefined && {
      redemption: { ...voucher.redemption, redeemedPoints },
    }),
  };
}

/** As the card was right after. */
export const withRedeemedPoints = (voucher: Voucher, taken: RedeemedPoints | null): Voucher =>
  taken === null ? voucher : withCardBalances(voucher, { ...taken, points: taken.cardPoints });

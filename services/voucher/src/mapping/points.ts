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

/** The points of a redemption or, with `sign` -1, of a rollback; empty for other vouchers than cards. */
export function pointsToProto(
  redeemed: RedeemedPoints | null,
  sign: 1n | -1n = 1n,
): Pick<Redemption, "loyaltyCard" | "reward"> & { readonly amount?: bigint } {
  if (redeemed === null) return {};
  const { points, reward } = redeemed;
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

/** The voucher of a card with these balances. */
export function withCardBalances(voucher: Voucher, balances: CardBalances): Voucher {
  const { points, balance, redeemedPoints } = balances;
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

/** The card as it was right after the redemption. */
export const withRedeemedPoints = (voucher: Voucher, redeemed: RedeemedPoints | null): Voucher =>
  redeemed === null
    ? voucher
    : withCardBalances(voucher, { ...redeemed, points: redeemed.cardPoints });

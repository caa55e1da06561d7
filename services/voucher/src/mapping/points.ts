import { create } from "@bufbuild/protobuf";
import type { CardBalances as CardBalancesMessage } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { RewardParametersSchema } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
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
    reward: reward === undefined ? null : rewardFromProto(reward),
  };
}

const rewardFromProto = ({
  id,
  name,
  type,
  assignmentId,
  quantity = 1n,
  parameters,
  loyaltyTierId,
}: RedemptionReward): PointsReward => ({
  id,
  name: name ?? null,
  type,
  assignmentId,
  quantity,
  parameters: parameters ?? null,
  tierId: loyaltyTierId ?? null,
});

/** What is still owed of a reward is added by `describeRewards`. */
function rewardToProto(reward: PointsReward, sign: 1n | -1n): RedemptionReward {
  const { id, name, type, assignmentId, quantity, parameters, tierId } = reward;
  const { product } = parameters ?? {};
  return {
    $typeName: "scrip.voucher.v1.RedemptionReward",
    id,
    type,
    assignmentId,
    quantity,
    ...(name !== null && { name }),
    ...(parameters !== null && { parameters: create(RewardParametersSchema, parameters) }),
    ...(tierId !== null && { loyaltyTierId: tierId }),
    ...(product !== undefined && {
      product: { $typeName: "scrip.voucher.v1.RedemptionRewardProduct" as const, id: product.id },
    }),
    ...(product?.skuId !== undefined && {
      sku: { $typeName: "scrip.voucher.v1.RedemptionRewardSku" as const, id: product.skuId },
    }),
    status: sign === -1n ? "ROLLED_BACK" : type === "COIN" ? "COMPLETED" : "PENDING",
  };
}

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
    ...(reward !== null && { reward: rewardToProto(reward, sign) }),
  };
}

export type CardBalances = Pick<RedeemedPoints, "balance" | "redeemedPoints"> & {
  readonly points: bigint;
} & Partial<
    Pick<
      CardBalancesMessage,
      | "expiredPoints"
      | "subtractedPoints"
      | "pendingPoints"
      | "nextExpirationDate"
      | "nextExpirationPoints"
    >
  >;

/** The voucher of a card with these balances. */
export function withCardBalances(voucher: Voucher, balances: CardBalances): Voucher {
  const { points, balance, redeemedPoints } = balances;
  return {
    ...voucher,
    ...(voucher.loyaltyCard !== undefined && {
      loyaltyCard: { ...voucher.loyaltyCard, points, balance, ...changesOf(balances) },
    }),
    ...(voucher.redemption !== undefined && {
      redemption: { ...voucher.redemption, redeemedPoints },
    }),
  };
}

/** What only some cards have: absent otherwise. */
const changesOf = ({
  expiredPoints = 0n,
  subtractedPoints = 0n,
  pendingPoints = 0n,
  nextExpirationDate,
  nextExpirationPoints,
}: CardBalances) => ({
  ...(pendingPoints > 0n && { pendingPoints }),
  ...(expiredPoints > 0n && { expiredPoints }),
  ...(subtractedPoints > 0n && { subtractedPoints }),
  ...(nextExpirationDate !== undefined && { nextExpirationDate, nextExpirationPoints }),
});

/** The card as it was right after the redemption. */
export const withRedeemedPoints = (voucher: Voucher, redeemed: RedeemedPoints | null): Voucher =>
  redeemed === null
    ? voucher
    : withCardBalances(voucher, { ...redeemed, points: redeemed.cardPoints });

import { parseDecimal } from "@scrip/money";
import type { LoadedCard, CardQuery } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { RewardCoin } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import type { RewardAssignment, RequestedReward } from "../domain/input/redeemable.ts";
import type { VoucherValue } from "../domain/input/voucher.ts";
import type { ResolvedRedeemables } from "./decision-context.ts";
import type { RedeemableInput } from "./decision-input.ts";

/** Loyalty cards by the ids of their vouchers. */
export type Cards = ReadonlyMap<string, LoadedCard>;

export const cardValue = ({ balances, lockedPoints }: LoadedCard): VoucherValue => ({
  type: "LOYALTY_CARD",
  balance: balances?.balance ?? 0n,
  lockedPoints,
});

export function chosenReward(
  { reward }: Pick<RedeemableInput, "reward">,
  card: LoadedCard | undefined,
): RequestedReward | null {
  if (reward?.id === undefined) return null;
  const assigned = card === undefined ? null : assignedReward(card);
  return { id: reward.id, points: reward.points ?? null, assignment: assigned };
}

function assignedReward({ reward, assignment }: LoadedCard): RewardAssignment | null {
  if (reward === undefined || assignment === undefined) return null;
  const { stock, redeemed = 0n } = reward;
  return {
    assignmentId: assignment.id,
    name: reward.name ?? null,
    type: reward.type as RewardAssignment["type"],
    price: assignment.parameters?.loyalty?.points ?? null,
    coin: coinOf(reward.parameters?.coin),
    stockLeft: stock === undefined ? null : stock - redeemed,
  };
}

function coinOf(
  coin: Pick<RewardCoin, "exchangeRatio" | "pointsRatio"> | undefined,
): RewardAssignment["coin"] {
  if (coin === undefined) return null;
  const exchangeRatio = parseDecimal(coin.exchangeRatio);
  if (exchangeRatio === undefined)
    throw new Error(`the stored exchange ratio ${coin.exchangeRatio} is not a number`);
  return { exchangeRatio, pointsRatio: coin.pointsRatio ?? 1n };
}

/** Ids of the reward assignments: validation rules can be assigned to them. */
export const assignmentIdsOf = (cards: Cards): readonly string[] =>
  [...cards.values()].flatMap(({ assignment }) => assignment?.id ?? []);

export function cardQuery(
  ref: RedeemableInput,
  vouchers: ResolvedRedeemables["vouchers"],
): CardQuery | undefined {
  const voucher = ref.object === "voucher" ? vouchers.get(ref.id)?.voucher : undefined;
  if (voucher?.type !== VoucherType.LOYALTY_CARD) return undefined;
  return {
    $typeName: "scrip.loyalty.v1.CardQuery",
    cardId: voucher.id,
    initialPoints: voucher.loyaltyCard?.points ?? 0n,
    ...(voucher.campaignId !== undefined && { campaignId: voucher.campaignId }),
    ...(ref.reward?.id !== undefined && { rewardId: ref.reward.id }),
  };
}

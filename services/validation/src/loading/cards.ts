import { parseDecimal } from "@scrip/money";
import type { CardQuery, LoadedCard } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { RewardCoin } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { AssignedReward, ChosenReward, VoucherValue } from "../domain/input/facts.ts";
import type { RedeemableInput } from "../mapping/decision-input.ts";
import type { ResolvedRedeemables } from "./resolved-redeemables.ts";
import { toTimestamp } from "./timestamps.ts";

type Cards = ReadonlyMap<string, LoadedCard>;

const NO_CARDS: Cards = new Map();

/**
 * What loyalty cards of a request have, and the rewards that were chosen for them, by the ids of their
 * vouchers. Nothing is asked when there are none.
 */
export async function loadCards(
  deps: Pick<Deps, "clients">,
  call: Call,
  {
    refs,
    vouchers,
    sessionKey,
  }: Pick<ResolvedRedeemables, "refs" | "vouchers"> & { readonly sessionKey: string | undefined },
): Promise<Cards> {
  const cards = refs.flatMap((ref) => cardQuery(ref, vouchers) ?? []);
  if (cards.length === 0) return NO_CARDS;
  const requestKey = call.idempotency?.key;
  const answer = await deps.clients.loadCards({
    $typeName: "scrip.loyalty.v1.CardsQuery",
    projectId: call.project.id,
    now: toTimestamp(call.now),
    cards,
    ...(sessionKey !== undefined && { sessionKey }),
    ...(requestKey !== undefined && { requestKey }),
  });
  return new Map(
    cards.flatMap(({ cardId }, index) => {
      const card = answer.cards[index];
      return card === undefined ? [] : [[cardId, card]];
    }),
  );
}

function cardQuery(
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

/** Validation rules are attached to them. */
export const assignmentIdsOf = (cards: Cards): readonly string[] =>
  [...cards.values()].flatMap(({ assignment }) => assignment?.id ?? []);

export const cardValue = ({ balances: figures, lockedPoints }: LoadedCard): VoucherValue => ({
  type: "LOYALTY_CARD",
  balance: figures?.balance ?? 0n,
  lockedPoints,
});

export function chosenReward(
  { reward }: Pick<RedeemableInput, "reward">,
  card: LoadedCard | undefined,
): ChosenReward | null {
  if (reward?.id === undefined) return null;
  const assigned = card === undefined ? null : assignedReward(card);
  return { id: reward.id, points: reward.points ?? null, assigned };
}

function assignedReward({ reward, assignment }: LoadedCard): AssignedReward | null {
  if (reward === undefined || assignment === undefined) return null;
  const { stock, redeemed = 0n } = reward;
  return {
    assignmentId: assignment.id,
    name: reward.name ?? null,
    type: reward.type as AssignedReward["type"],
    price: assignment.parameters?.loyalty?.points ?? null,
    coin: coinOf(reward.parameters?.coin),
    stockLeft: stock === undefined ? null : stock - redeemed,
  };
}

function coinOf(
  coin: Pick<RewardCoin, "exchangeRatio" | "pointsRatio"> | undefined,
): AssignedReward["coin"] {
  if (coin === undefined) return null;
  const exchangeRatio = parseDecimal(coin.exchangeRatio);
  if (exchangeRatio === undefined) throw new Error(`the ratio ${coin.exchangeRatio} was stored`);
  return { exchangeRatio, pointsRatio: coin.pointsRatio ?? 1n };
}

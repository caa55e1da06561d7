import type { DecisionRequest } from "../decide.ts";
import type { Redeemable } from "../input/facts.ts";
import type { Refused } from "../rejections/rejection.ts";

export type Loss = {
  readonly name: string;
  readonly refusal: Refused;
  /** The credits that are left of a gift card; null of everything else, which is gone. */
  readonly left: bigint | null;
};

/** What a request lost to faster ones while it was decided again and again, by name. */
export type Losses = ReadonlyMap<string, Lost>;

type Lost = {
  readonly times: number;
  /** Of the last time. */
  readonly refusal: Refused;
  readonly isGone: boolean;
  /** Of a gift card; null when it was looked up since. */
  readonly left: bigint | null;
};

export const NOTHING_LOST: Losses = new Map();

export const nameOfRedeemable = ({ object, id }: Pick<Redeemable, "object" | "id">): string =>
  `${object} ${id}`;

/** So often what is left of a gift card is tried for, so that the request comes to an end. */
const MOST_TRIES = 2;

export function lossesAfter(losses: Losses, lost: readonly Loss[]): Losses {
  const all = new Map(losses);
  for (const { name, refusal, left } of lost) {
    const times = (all.get(name)?.times ?? 0) + 1;
    all.set(name, { times, refusal, left, isGone: left === null || times > MOST_TRIES });
  }
  return all;
}

/** Everything was looked up again: what was told of gift cards before is out of date. */
export const foundAgain = (losses: Losses): Losses =>
  new Map([...losses].map(([name, lost]) => [name, { ...lost, left: null }]));

/**
 * The request as it is to be decided after the losses. What is left of a gift card is what the commit
 * told, which nobody needs to look up.
 */
export function withoutLosses(request: DecisionRequest, losses: Losses): DecisionRequest {
  if (losses.size === 0) return request;
  const gone = [...losses].filter(([, { isGone }]) => isGone);
  return {
    ...request,
    redeemables: request.redeemables.map((one) => withLeft(one, losses)),
    lost: new Map(gone.map(([name, { refusal }]) => [name, refusal])),
  };
}

function withLeft(redeemable: Redeemable, losses: Losses): Redeemable {
  const left = losses.get(nameOfRedeemable(redeemable))?.left ?? null;
  if (left === null || redeemable.object !== "voucher") return redeemable;
  const { voucher } = redeemable;
  if (voucher?.value.type !== "GIFT_VOUCHER") return redeemable;
  const value = { ...voucher.value, balance: left + voucher.value.lockedCredits };
  return { ...redeemable, voucher: { ...voucher, value } };
}

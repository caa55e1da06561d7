import type { DecisionRequest } from "../decide.ts";
import type { Redeemable } from "../input/facts.ts";
import type { Rejection } from "../rejections/rejection.ts";

export type CommitConflict = {
  readonly redeemableKey: string;
  readonly rejection: Rejection;
  /** The credits that are left of a gift card; null of everything else, which is gone. */
  readonly remainingCredits: bigint | null;
};

/** What a request lost to faster ones while it was decided again and again, by name. */
export type CommitConflicts = ReadonlyMap<string, ConflictRecord>;

type ConflictRecord = {
  readonly attempts: number;
  /** Of the last time. */
  readonly rejection: Rejection;
  readonly isExhausted: boolean;
  /** Of a gift card; null when it was looked up since. */
  readonly remainingCredits: bigint | null;
};

export const NO_CONFLICTS: CommitConflicts = new Map();

export const redeemableKey = ({ object, id }: Pick<Redeemable, "object" | "id">): string =>
  `${object} ${id}`;

/** So often what is left of a gift card is tried for, so that the request comes to an end. */
const MAX_GIFT_ATTEMPTS = 2;

export function addConflicts(
  losses: CommitConflicts,
  lost: readonly CommitConflict[],
): CommitConflicts {
  const all = new Map(losses);
  for (const { redeemableKey: name, rejection, remainingCredits: left } of lost) {
    const times = (all.get(name)?.attempts ?? 0) + 1;
    all.set(name, {
      attempts: times,
      rejection,
      remainingCredits: left,
      isExhausted: left === null || times > MAX_GIFT_ATTEMPTS,
    });
  }
  return all;
}

/** Everything was looked up again: what was told of gift cards before is out of date. */
export const refreshed = (losses: CommitConflicts): CommitConflicts =>
  new Map([...losses].map(([name, lost]) => [name, { ...lost, remainingCredits: null }]));

/**
 * The request as it is to be decided after the losses. What is left of a gift card is what the commit
 * told, which nobody needs to look up.
 */
export function withConflicts(request: DecisionRequest, losses: CommitConflicts): DecisionRequest {
  if (losses.size === 0) return request;
  const gone = [...losses].filter(([, { isExhausted: isGone }]) => isGone);
  return {
    ...request,
    redeemables: request.redeemables.map((one) => withRemainingCredits(one, losses)),
    conflicts: new Map(gone.map(([name, { rejection }]) => [name, rejection])),
  };
}

function withRemainingCredits(redeemable: Redeemable, losses: CommitConflicts): Redeemable {
  const left = losses.get(redeemableKey(redeemable))?.remainingCredits ?? null;
  if (left === null || redeemable.object !== "voucher") return redeemable;
  const { voucher } = redeemable;
  if (voucher?.value.type !== "GIFT_VOUCHER") return redeemable;
  const value = { ...voucher.value, balance: left + voucher.value.lockedCredits };
  return { ...redeemable, voucher: { ...voucher, value } };
}

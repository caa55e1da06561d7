import type { DecisionRequest } from "../decision/decision-request.ts";
import { type Redeemable, redeemableKey } from "../input/redeemable.ts";
import type { Rejection } from "../rejections/rejection.ts";

/** A redeemable whose commit failed because of a concurrent redemption. */
export type CommitConflict = {
  /** `redeemableKey` of the redeemable. */
  readonly redeemableKey: string;
  readonly rejection: Rejection;
  /** Credits that remain on a gift card; null for everything else, which is exhausted. */
  readonly remainingCredits: bigint | null;
};

/**
 * The conflicts of all attempts of a request, by `redeemableKey`.
 * docs/redemption-and-rollback.md#concurrency
 */
export type CommitConflicts = ReadonlyMap<string, ConflictRecord>;

type ConflictRecord = {
  readonly attempts: number;
  /** Rejection of the last attempt. */
  readonly rejection: Rejection;
  readonly isExhausted: boolean;
  /** Credits left on a gift card, as the commit reported them; null once the card was loaded again. */
  readonly remainingCredits: bigint | null;
};

export const NO_CONFLICTS: CommitConflicts = new Map();

/** Maximum number of attempts with a reduced gift balance, so that the request ends. */
const MAX_GIFT_ATTEMPTS = 2;

export function addConflicts(
  previous: CommitConflicts,
  conflicts: readonly CommitConflict[],
): CommitConflicts {
  const all = new Map(previous);
  for (const { redeemableKey: key, rejection, remainingCredits } of conflicts) {
    const attempts = (all.get(key)?.attempts ?? 0) + 1;
    const isExhausted = remainingCredits === null || attempts > MAX_GIFT_ATTEMPTS;
    all.set(key, { attempts, rejection, remainingCredits, isExhausted });
  }
  return all;
}

/** The conflicts after all input was loaded again: the reported gift balances are outdated. */
export const refreshed = (conflicts: CommitConflicts): CommitConflicts =>
  new Map([...conflicts].map(([key, conflict]) => [key, { ...conflict, remainingCredits: null }]));

/**
 * The request for the next attempt. Gift balances are those that the commit reported; they are not
 * loaded again.
 */
export function withConflicts(
  request: DecisionRequest,
  conflicts: CommitConflicts,
): DecisionRequest {
  if (conflicts.size === 0) return request;
  const exhausted = [...conflicts].filter(([, { isExhausted }]) => isExhausted);
  return {
    ...request,
    redeemables: request.redeemables.map((one) => withRemainingCredits(one, conflicts)),
    conflicts: new Map(exhausted.map(([key, { rejection }]) => [key, rejection])),
  };
}

function withRemainingCredits(redeemable: Redeemable, conflicts: CommitConflicts): Redeemable {
  const remaining = conflicts.get(redeemableKey(redeemable))?.remainingCredits ?? null;
  if (remaining === null || redeemable.object !== "voucher") return redeemable;
  const { voucher } = redeemable;
  if (voucher?.value.type !== "GIFT_VOUCHER") return redeemable;
  const value = { ...voucher.value, balance: remaining + voucher.value.lockedCredits };
  return { ...redeemable, voucher: { ...voucher, value } };
}

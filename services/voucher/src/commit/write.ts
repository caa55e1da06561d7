import type { Queryable } from "@scrip/postgres";

import { ConcurrentResponseError } from "../batch/locked-batch.ts";
import type { CountIncrement } from "../domain/counts.ts";
import { type CommitWrites, writeCommits } from "../store/commit-statement.ts";
import { type HoldClaim, claimHolds } from "../store/points-claims.ts";
import { deleteSessions } from "../store/reservations.ts";
import { insertRewardRedemptions, type RewardRedemption } from "../store/reward-redemptions.ts";
import { moveTotals } from "../store/totals.ts";

/** Everything that a batch of commands changes. */
export type CommitBatchWrites = CommitWrites & {
  /** Added to the totals of campaigns and tiers. */
  readonly increments: readonly CountIncrement[];
  /** Points holds that redemptions use. */
  readonly claims: readonly HoldClaim[];
  /** MATERIAL and CAMPAIGN rewards that are to be given for the redemptions. */
  readonly rewards: readonly RewardRedemption[];
  /** Sessions whose locks the redemptions release. */
  readonly sessions: readonly { readonly projectId: string; readonly sessionKey: string }[];
};

/** Whether the first statement writes everything. */
export const isOneStatement = ({
  increments,
  claims,
  rewards,
  sessions,
}: CommitBatchWrites): boolean =>
  [increments, claims, rewards, sessions].every((others) => others.length === 0);

/** The statements share a round trip; most batches need only the first. */
export async function writeCommitBatch(tx: Queryable, writes: CommitBatchWrites): Promise<void> {
  if (writes.redemptions.length === 0 && writes.responses.length === 0) return;
  const [stored] = await Promise.all([
    writeCommits(tx, writes),
    moveTotals(tx, writes.increments, "up"),
    claimHolds(tx, writes.claims),
    insertRewardRedemptions(tx, writes.rewards),
    deleteSessions(tx, writes.sessions),
  ]);
  if (stored < writes.responses.length) throw new ConcurrentResponseError();
}

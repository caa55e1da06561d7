import type { Queryable } from "@scrip/postgres";

import { AnsweredMeanwhile } from "../batch/locked-batch.ts";
import type { Addition } from "../domain/counts.ts";
import { type CommitWrites, writeCommits } from "../store/commit-statement.ts";
import { type Claim, insertClaims } from "../store/points-claims.ts";
import { deleteSessions } from "../store/reservations.ts";
import { moveTotals } from "../store/totals.ts";

/** Everything that a batch of commands changes. */
export type Writes = CommitWrites & {
  /** To the totals of campaigns and tiers. */
  readonly additions: readonly Addition[];
  /** Spends of points that redemptions use up. */
  readonly claims: readonly Claim[];
  /** Sessions that are done. */
  readonly sessions: readonly { readonly projectId: string; readonly sessionKey: string }[];
};

/** The statements travel together; most batches have only the first. */
export async function storeCommits(tx: Queryable, writes: Writes): Promise<void> {
  if (writes.redemptions.length === 0 && writes.responses.length === 0) return;
  const [stored] = await Promise.all([
    writeCommits(tx, writes),
    moveTotals(tx, writes.additions, "up"),
    insertClaims(tx, writes.claims),
    deleteSessions(tx, writes.sessions),
  ]);
  if (stored < writes.responses.length) throw new AnsweredMeanwhile();
}

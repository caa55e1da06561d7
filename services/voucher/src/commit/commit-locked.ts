import { isUniqueViolation, type Queryable, sqlState } from "@scrip/postgres";
import type { CommitOutcome } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { runInterleaved, UNLIMITED } from "@scrip/rpc";

import { type Contention, createContention } from "../batch/contention.ts";
import { rowsToLock } from "../batch/lock-rows.ts";
import { ConcurrentResponseError, runLocked, retryItemsSeparately } from "../batch/locked-batch.ts";
import { createTotalRows, type TotalRows } from "../batch/total-rows.ts";
import type { Deps } from "../deps.ts";
import { decideCommits } from "../domain/commit.ts";
import { rowKey } from "../domain/usage.ts";
import { loadSessionLocks } from "../loading/session-locks.ts";
import { hasRedemption } from "../store/commit-statement.ts";
import { readCounts } from "../store/counts.ts";
import { findStoredResponses } from "../store/idempotency.ts";
import { type HoldClaim, findHoldClaims, type PointsHoldKey } from "../store/points-claims.ts";
import { type BuiltCommits, buildCommitOutcomes } from "./build-outcomes.ts";
import { internalErrorOutcome, totalsExceededOutcome } from "./build-rejections.ts";
import { loadCurrentDefinitions } from "./current-definitions.ts";
import type { Command } from "./parse-command.ts";
import { writeCommitBatch } from "./write.ts";

/** An earlier attempt that may have been committed although its response was lost. */
export type Attempt = {
  readonly projectId: string;
  readonly redemptionId: string;
  readonly outcomes: readonly CommitOutcome[];
};

/** `earlier`: attempts to commit exactly these commands. */
export type CommitLocked = (
  commands: readonly Command[],
  earlier?: readonly Attempt[],
) => Promise<readonly CommitOutcome[]>;

/**
 * Commits a batch of commands in one transaction: locks the vouchers, campaigns and tiers of all commands, decides in
 * memory and writes everything (docs/redemption-and-rollback.md#concurrency). A hot code costs one lock and one flush
 * per batch.
 */
export function createCommitLocked(deps: Deps): CommitLocked {
  const context = {
    deps,
    db: deps.db,
    contention: createContention(),
    totalRows: createTotalRows(),
  };
  return (commands, earlier = []) =>
    retryItemsSeparately(commands, {
      run: (some) => commit(context, some, some === commands ? earlier : []),
      reject: ({ message }, cause) => {
        deps.onError(new Error("a redemption could not be stored", { cause }));
        return sqlState(cause) === OUT_OF_RANGE
          ? totalsExceededOutcome(message.requestId)
          : internalErrorOutcome(message.requestId);
      },
    });
}

/** `numeric_value_out_of_range`: each amount fits, so that only a total can exceed eight bytes. */
const OUT_OF_RANGE = "22003";

type Context = {
  readonly deps: Deps;
  readonly db: Deps["db"];
  readonly contention: Contention;
  readonly totalRows: TotalRows;
};

async function commit(
  context: Context,
  commands: readonly Command[],
  earlier: readonly Attempt[],
): Promise<readonly CommitOutcome[]> {
  const { deps } = context;
  const keys = rowsToLock(commands);
  await context.totalRows.ensure(deps.db, keys.scopes);
  const attempts: Attempt[] = [...earlier];
  let wroteEvents = false;
  const outcomes = await runLocked(context, {
    keys,
    shouldRetry,
    mayBeCommitted: () => attempts.length > 0,
    work: async (tx, lock) => {
      // One round trip, executed in this order. The last two must be separate statements: their snapshots are
      // taken under the locks, so they see what the previous holders of the locks committed.
      const [{ usages, lockedByOthers }, storedResponses, counts] = await Promise.all([
        lock(),
        findStoredResponses(tx, keysOf(commands)),
        readCounts(tx, countsOf(commands)),
      ]);
      // Repeating a committed attempt would redeem twice. Under the locks its rows are visible.
      const committed = await findCommittedAttempt(tx, attempts);
      if (committed !== undefined) return committed.outcomes;
      const storedHashes = new Map(
        [...storedResponses].map(([key, { requestHash }]) => [key, requestHash]),
      );
      const [current, claims, locks] = await Promise.all([
        loadCurrentDefinitions(tx, deps, { commands, usages }),
        findHoldClaims(tx, holdsOf(commands)),
        loadSessionLocks(
          tx,
          usages,
          commands.filter(({ isRejection }) => !isRejection),
        ),
      ]);
      const decisions = decideCommits({
        commands: current.commands,
        usages,
        lockedByOthers,
        storedHashes,
        counts,
        locks,
        claimedHolds: new Set(claims.map(claimKey)),
      });
      const buildContext = { ...deps, definitions: current.definitions, storedResponses };
      const built = await runInterleaved(
        buildCommitOutcomes(commands, decisions, buildContext),
        UNLIMITED,
      );
      await writeCommitBatch(tx, built.writes);
      attempts.push(...attemptsOf(built));
      wroteEvents = built.writes.events.length > 0;
      return built.outcomes;
    },
  });
  if (wroteEvents) deps.onEvents();
  return outcomes;
}

const shouldRetry = (error: unknown): boolean =>
  error instanceof ConcurrentResponseError ||
  // An id was generated twice; the next attempt generates others.
  isUniqueViolation(error, "redemption_pkey") ||
  // A points hold was released after it was looked up.
  isUniqueViolation(error, "points_claim_pkey");

/** One redemption of each batch is enough to find out whether it was committed, because all are committed together. */
export const attemptsOf = ({ writes, outcomes }: BuiltCommits): readonly Attempt[] =>
  writes.redemptions.slice(0, 1).map(({ projectId, id }) => ({
    projectId,
    redemptionId: id,
    outcomes,
  }));

async function findCommittedAttempt(
  tx: Queryable,
  attempts: readonly Attempt[],
): Promise<Attempt | undefined> {
  for (const attempt of attempts) {
    if (await hasRedemption(tx, attempt.projectId, attempt.redemptionId)) return attempt;
  }
  return undefined;
}

const keysOf = (commands: readonly Command[]) =>
  commands.flatMap(({ projectId, idempotency }) =>
    idempotency === null ? [] : { projectId, key: idempotency.key },
  );

const holdsOf = (commands: readonly Command[]): readonly PointsHoldKey[] =>
  commands.flatMap(({ projectId, parts }) =>
    parts.flatMap(({ holdId }) => (holdId === null ? [] : [{ projectId, holdId }])),
  );

const claimKey = ({ projectId, holdId }: HoldClaim): string => rowKey(projectId, holdId);

const countsOf = (commands: readonly Command[]) =>
  commands.flatMap(({ parts, isRejection }) =>
    isRejection ? [] : parts.flatMap(({ guards }) => guards.map(({ count }) => count)),
  );

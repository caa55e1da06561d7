import { isUniqueViolation, type Queryable } from "@scrip/postgres";
import type {
  RedemptionService,
  RollbackOutcome,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

import { type Contention, createContention } from "../batch/contention.ts";
import { sortRowKeys, type RowKeys } from "../batch/lock-rows.ts";
import { ConcurrentResponseError, runLocked, retryItemsSeparately } from "../batch/locked-batch.ts";
import { buildError } from "../commit/build-rejections.ts";
import type { Deps } from "../deps.ts";
import { decideRollbacks } from "../domain/decide-rollbacks.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { rejectedOutcome, buildRollbackOutcomes } from "../rollback/build-outcomes.ts";
import type { RollbackWrites } from "../rollback/draft.ts";
import { type Command, parseCommand, rollbackTargetFromStored } from "../rollback/parse-command.ts";
import {
  type Refund,
  loadCardsBefore,
  refundPoints,
  refundsOf,
} from "../rollback/refund-points.ts";
import { writeCommits } from "../store/commit-statement.ts";
import { findStoredResponses } from "../store/idempotency.ts";
import {
  findParts,
  findRedemptions,
  lockRedemptions,
  type StoredRedemption,
} from "../store/redemptions.ts";
import { rollBackRewards } from "../store/reward-redemptions.ts";
import { hasRollback, writeRollbacks } from "../store/rollbacks.ts";
import { moveTotals } from "../store/totals.ts";

/**
 * Commits a batch of rollbacks in one transaction: locks the vouchers and totals of the redemptions, then the
 * redemptions, decides in memory and writes everything (docs/redemption-and-rollback.md#rollback). A redemption
 * never changes its voucher, so the rows to lock are read before; its status is certain only under the locks.
 */
export const commitRollbacks = (
  deps: Deps,
): Handler<typeof RedemptionService.method.commitRollbacks> => {
  const context = { deps, db: deps.db, contention: createContention() };
  return async (request) => {
    const outcomes = await retryItemsSeparately(request.commands.map(parseCommand), {
      run: (some) => commit(context, some),
      reject: ({ message }, cause) => {
        deps.onError(new Error("a rollback could not be stored", { cause }));
        return rejectedOutcome(buildError("internal_error", message.requestId, undefined));
      },
    });
    return {
      $typeName: "scrip.voucher.v1.CommitRollbacksResponse",
      outcomes: [...outcomes],
    };
  };
};

type Context = {
  readonly deps: Deps;
  readonly db: Deps["db"];
  readonly contention: Contention;
};

/** An earlier attempt that may have been committed although its response was lost. */
type Attempt = {
  readonly projectId: string;
  readonly rollbackId: string;
  readonly outcomes: readonly RollbackOutcome[];
};

async function commit(
  context: Context,
  commands: readonly Command[],
): Promise<readonly RollbackOutcome[]> {
  const { deps } = context;
  const targets = await findTargets(deps.db, commands);
  const cards = await loadCardsBefore(deps, targets);
  const attempts: Attempt[] = [];
  let wroteEvents = false;
  let refunds: readonly Refund[] = [];
  const outcomes = await runLocked(context, {
    keys: namesToLock(targets),
    shouldRetry,
    mayBeCommitted: () => attempts.length > 0,
    work: async (tx, lock) => {
      const [{ usages, lockedByOthers }, redemptions, storedResponses] = await Promise.all([
        lock(),
        lockRedemptions(tx, targets),
        findStoredResponses(tx, keysOf(commands)),
      ]);
      const committed = await findCommittedAttempt(tx, attempts);
      if (committed !== undefined) return committed.outcomes;
      await loadDefinitions(tx, deps, usages);
      const stored = new Map(redemptions.map((one) => [rowKey(one.projectId, one.id), one]));
      const decisions = decideRollbacks({
        commands,
        redemptions: new Map([...stored].map(([key, one]) => [key, rollbackTargetFromStored(one)])),
        usages,
        lockedByOthers,
        storedHashes: new Map(
          [...storedResponses].map(([key, { requestHash }]) => [key, requestHash]),
        ),
      });
      const built = buildRollbackOutcomes(commands, decisions, {
        ...deps,
        stored,
        storedResponses,
        cards: new Map(cards),
      });
      refunds = refundsOf(built.writes.rollbacks);
      await store(tx, built.writes);
      const [first] = built.writes.rollbacks;
      if (first !== undefined) {
        const { projectId, id: rollbackId } = first;
        attempts.push({ projectId, rollbackId, outcomes: built.outcomes });
      }
      wroteEvents = built.writes.events.length > 0;
      return built.outcomes;
    },
  });
  if (wroteEvents) deps.onEvents();
  await refundPoints(deps, refunds);
  return outcomes;
}

/** The requested redemptions, and the parts of those that are parents. */
async function findTargets(
  db: Queryable,
  commands: readonly Command[],
): Promise<readonly StoredRedemption[]> {
  const names = new Map(
    commands.map(({ projectId, redemptionId: id }) => [rowKey(projectId, id), { projectId, id }]),
  );
  const [named, parts] = await Promise.all([
    findRedemptions(db, [...names.values()]),
    findParts(db, [...names.values()]),
  ]);
  const targets = [...named, ...parts];
  return [...new Map(targets.map((one) => [rowKey(one.projectId, one.id), one])).values()];
}

function namesToLock(targets: readonly StoredRedemption[]): RowKeys {
  const vouchers = targets.flatMap(({ projectId, voucherId }) =>
    voucherId === null ? [] : [{ projectId, voucherId }],
  );
  const scopes = targets.flatMap(({ projectId, tierId, campaignId }) =>
    [tierId, campaignId].flatMap((scopeId) => (scopeId === null ? [] : [{ projectId, scopeId }])),
  );
  return sortRowKeys(vouchers, scopes);
}

/** The current definitions: the response shows vouchers as they are after the rollback. */
const loadDefinitions = (
  tx: Queryable,
  { definitions }: Deps,
  usages: ReadonlyMap<string, VoucherUsage>,
): Promise<void> =>
  definitions.load(
    tx,
    [...usages.values()].map(({ projectId, voucherId: id, definitionVersion: version }) => ({
      projectId,
      id,
      version,
    })),
  );

const shouldRetry = (error: unknown): boolean =>
  error instanceof ConcurrentResponseError ||
  // An id was generated twice; the next attempt generates others.
  isUniqueViolation(error, "redemption_rollback_pkey");

async function findCommittedAttempt(
  tx: Queryable,
  attempts: readonly Attempt[],
): Promise<Attempt | undefined> {
  for (const attempt of attempts) {
    if (await hasRollback(tx, attempt.projectId, attempt.rollbackId)) return attempt;
  }
  return undefined;
}

const keysOf = (commands: readonly Command[]) =>
  commands.flatMap(({ projectId, idempotency }) =>
    idempotency === null ? [] : { projectId, key: idempotency.key },
  );

const rewardsOf = ({ rollbacks }: RollbackWrites) =>
  rollbacks.filter(
    ({ status, points }) =>
      status === "SUCCEEDED" && points?.reward != null && points.reward.type !== "COIN",
  );

async function store(tx: Queryable, writes: RollbackWrites): Promise<void> {
  if (writes.rollbacks.length === 0 && writes.responses.length === 0) return;
  const [stored] = await Promise.all([
    writeCommits(tx, { ...writes, redemptions: [] }),
    writeRollbacks(tx, writes),
    moveTotals(tx, writes.decrements, "down"),
    rollBackRewards(tx, rewardsOf(writes)),
  ]);
  if (stored < writes.responses.length) throw new ConcurrentResponseError();
}

import { isUniqueViolation, type Queryable } from "@scrip/postgres";
import type {
  RedemptionService,
  RollbackOutcome,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

import { type Contention, createContention } from "../batch/contention.ts";
import { namesOf, type RowNames } from "../batch/lock-rows.ts";
import { AnsweredMeanwhile, runLocked, takeApart } from "../batch/locked-batch.ts";
import { errorOf } from "../commit/build-rejections.ts";
import type { Deps } from "../deps.ts";
import { decideRollbacks } from "../domain/rollback.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { refusedBy, renderRollbacks, type RollbackWrites } from "../rollback/build-outcomes.ts";
import { type Command, parseCommand, redeemedOf } from "../rollback/parse-command.ts";
import { type Refund, getCardBalances, refund, refundsOf } from "../rollback/refund-points.ts";
import { writeCommits } from "../store/commit-statement.ts";
import { findAnswers } from "../store/idempotency.ts";
import {
  findParts,
  findRedemptions,
  lockRedemptions,
  type StoredRedemption,
} from "../store/redemptions.ts";
import { hasRollback, writeRollbacks } from "../store/rollbacks.ts";
import { moveTotals } from "../store/totals.ts";

/**
 * Gives value back: locks what the redemptions took from and then themselves, decides in memory,
 * writes everything, commits once. Redemptions never change what they are of, so what to lock is read
 * before; what became of them is only known under the locks.
 */
export const commitRollbacks = (
  deps: Deps,
): Handler<typeof RedemptionService.method.commitRollbacks> => {
  const context = { deps, db: deps.db, contention: createContention() };
  return async (request) => {
    const outcomes = await takeApart(request.commands.map(parseCommand), {
      run: (some) => commit(context, some),
      refuse: ({ message }, cause) => {
        deps.onError(new Error("a rollback could not be stored", { cause }));
        return refusedBy(errorOf("internal_error", message.requestId, undefined));
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

/** An earlier attempt whose commit may have been done although its answer got lost. */
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
  const cards = await getCardBalances(deps, targets);
  const attempts: Attempt[] = [];
  let wroteEvents = false;
  let refunds: readonly Refund[] = [];
  const outcomes = await runLocked(context, {
    names: namesToLock(targets),
    isRepeatable,
    mayBeDone: () => attempts.length > 0,
    work: async (tx, lock) => {
      const [{ usages, held }, redemptions, answers] = await Promise.all([
        lock(),
        lockRedemptions(tx, targets),
        findAnswers(tx, keysOf(commands)),
      ]);
      const done = await findDone(tx, attempts);
      if (done !== undefined) return done.outcomes;
      await loadTemplates(tx, deps, usages);
      const stored = new Map(redemptions.map((one) => [rowKey(one.projectId, one.id), one]));
      const decisions = decideRollbacks({
        commands,
        redemptions: new Map([...stored].map(([key, one]) => [key, redeemedOf(one)])),
        usages,
        held,
        answered: new Map([...answers].map(([key, answer]) => [key, answer.requestHash])),
      });
      const rendered = renderRollbacks(commands, decisions, {
        ...deps,
        stored,
        answers,
        cards: new Map(cards),
      });
      refunds = refundsOf(rendered.writes.rollbacks);
      await store(tx, rendered.writes);
      const [first] = rendered.writes.rollbacks;
      if (first !== undefined) {
        const { projectId, id: rollbackId } = first;
        attempts.push({ projectId, rollbackId, outcomes: rendered.outcomes });
      }
      wroteEvents = rendered.writes.events.length > 0;
      return rendered.outcomes;
    },
  });
  if (wroteEvents) deps.onEvents();
  await refund(deps, refunds);
  return outcomes;
}

/** The redemptions that are named, and the parts of those that are parents. */
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

function namesToLock(targets: readonly StoredRedemption[]): RowNames {
  const vouchers = targets.flatMap(({ projectId, voucherId }) =>
    voucherId === null ? [] : [{ projectId, voucherId }],
  );
  const scopes = targets.flatMap(({ projectId, tierId, campaignId }) =>
    [tierId, campaignId].flatMap((scopeId) => (scopeId === null ? [] : [{ projectId, scopeId }])),
  );
  return namesOf(vouchers, scopes);
}

/** The definitions that count now: a voucher is answered as it is after the rollback. */
const loadTemplates = (
  tx: Queryable,
  { templates }: Deps,
  usages: ReadonlyMap<string, VoucherUsage>,
): Promise<void> =>
  templates.load(
    tx,
    [...usages.values()].map(({ projectId, voucherId: id, definitionVersion: version }) => ({
      projectId,
      id,
      version,
    })),
  );

const isRepeatable = (error: unknown): boolean =>
  error instanceof AnsweredMeanwhile ||
  // An id was drawn twice; the next attempt draws others.
  isUniqueViolation(error, "redemption_rollback_pkey") ||
  isUniqueViolation(error, "outbox_pkey");

async function findDone(tx: Queryable, attempts: readonly Attempt[]): Promise<Attempt | undefined> {
  for (const attempt of attempts) {
    if (await hasRollback(tx, attempt.projectId, attempt.rollbackId)) return attempt;
  }
  return undefined;
}

const keysOf = (commands: readonly Command[]) =>
  commands.flatMap(({ projectId, idempotency }) =>
    idempotency === null ? [] : { projectId, key: idempotency.key },
  );

async function store(tx: Queryable, writes: RollbackWrites): Promise<void> {
  if (writes.rollbacks.length === 0 && writes.responses.length === 0) return;
  const [stored] = await Promise.all([
    writeCommits(tx, { ...writes, redemptions: [] }),
    writeRollbacks(tx, writes),
    moveTotals(tx, writes.additions, "down"),
  ]);
  if (stored < writes.responses.length) throw new AnsweredMeanwhile();
}

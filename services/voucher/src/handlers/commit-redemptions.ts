import { setTimeout as sleep } from "node:timers/promises";

import { catalogue } from "@scrip/errors";
import { isRetryable, isUniqueViolation, type Queryable, sqlState } from "@scrip/postgres";
import type {
  CommitOutcome,
  RedemptionCommand,
  RedemptionService,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";
import { instantOf } from "@scrip/terms";

import { type Contention, createContention } from "../contention.ts";
import type { Deps } from "../deps.ts";
import { decideCommits } from "../domain/commit.ts";
import { type CommitWrites, hasRedemption, writeCommits } from "../store/commits.ts";
import { findAnswers } from "../store/idempotency.ts";
import { currentDefinitions } from "./commit-definitions.ts";
import { keyOf, lockVouchers, namesToLock } from "./commit-locks.ts";
import { type Command, nowOf, renderCommits } from "./commit-outcomes.ts";

const MAX_RETRIES = 3;
/** Spreads the retries of batches that met each other. */
const RETRY_DELAY_MS = { min: 10, spread: 70 };
/** Several times what a full batch takes. Whoever holds a voucher for longer must not hold up the others. */
const LOCK_PATIENCE_MS = 500;

/**
 * Takes value: locks the vouchers of all commands, decides in memory, writes everything, commits
 * once (design/reliability.md §2.4). One hot code costs one lock and one flush for each batch.
 */
export const commitRedemptions = (
  deps: Deps,
): Handler<typeof RedemptionService.method.commitRedemptions> => {
  const context = { deps, contention: createContention() };
  return async (request) => {
    const commands = parse(request.commands);
    // Before the transaction: what is cached or read here is only used when its version is the
    // locked one.
    await deps.templates.load(deps.db, wantedBy(commands));
    const outcomes = await commitAll(context, commands);
    return {
      $typeName: "scrip.voucher.v1.CommitRedemptionsResponse",
      outcomes: [...outcomes],
    };
  };
};

type Context = { readonly deps: Deps; readonly contention: Contention };

function parse(messages: readonly RedemptionCommand[]): Command[] {
  return messages.map((message) => ({
    message,
    at: instantOf(nowOf(message)),
    projectId: message.projectId,
    idempotency: message.idempotency ?? null,
    takes: message.parts.map(({ redeemable, definitionVersion, credits }) => ({
      voucherId: redeemable.case === "voucherId" ? redeemable.value : "",
      definitionVersion,
      credits,
    })),
    refused: message.refused !== undefined,
  }));
}

const wantedBy = (commands: readonly Command[]) =>
  commands.flatMap(({ projectId, takes }) =>
    takes.map(({ voucherId, definitionVersion }) => ({
      projectId,
      id: voucherId,
      version: definitionVersion,
    })),
  );

/** A batch that cannot be stored as a whole is taken apart, so that one bad item harms no other. */
async function commitAll(
  context: Context,
  commands: readonly Command[],
): Promise<readonly CommitOutcome[]> {
  try {
    return await commitWithRetries(context, commands);
  } catch (error) {
    if (!isBadItem(error)) throw error;
    const [only, ...others] = commands;
    if (only !== undefined && others.length === 0) {
      context.deps.onError(new Error("a redemption could not be stored", { cause: error }));
      return [internalError(only)];
    }
    const outcomes: CommitOutcome[] = [];
    for (const command of commands) outcomes.push(...(await commitAll(context, [command])));
    return outcomes;
  }
}

/** Data exceptions and broken constraints: repeating the same statement would fail the same way. */
const isBadItem = (error: unknown): boolean => /^2[23]/.test(sqlState(error) ?? "");

/** An earlier attempt whose commit may have been done although its answer got lost. */
type Attempt = {
  readonly projectId: string;
  readonly redemptionId: string;
  readonly outcomes: readonly CommitOutcome[];
};

async function commitWithRetries(
  context: Context,
  commands: readonly Command[],
): Promise<readonly CommitOutcome[]> {
  const attempts: Attempt[] = [];
  let patience: Patience = "short";
  for (let retries = 0; ; retries += 1) {
    try {
      return await attemptCommit(context, commands, { attempts, patience });
    } catch (error) {
      if (patience === "short" && sqlState(error) === LOCK_TIMEOUT) {
        patience = "none";
        continue;
      }
      if (retries >= MAX_RETRIES || !isRepeatable(error)) throw error;
      // What may have been committed is only known for sure under the locks.
      patience = attempts.length > 0 ? "full" : "short";
      await sleep(RETRY_DELAY_MS.min + Math.random() * RETRY_DELAY_MS.spread);
    }
  }
}

const LOCK_TIMEOUT = "55P03";

/**
 * How a batch waits for vouchers that others hold: for a short time and without those that are known
 * to be held for long, not at all, or for all of them as long as any statement may.
 */
type Patience = "short" | "none" | "full";

const isRepeatable = (error: unknown): boolean =>
  error instanceof AnsweredMeanwhile ||
  isRetryable(error) ||
  // An id was drawn twice; the next attempt draws others.
  isUniqueViolation(error, "redemption_pkey") ||
  isUniqueViolation(error, "outbox_pkey");

/** Another transaction answered under one of our keys while we decided. Its answer counts. */
class AnsweredMeanwhile extends Error {
  override readonly name = "AnsweredMeanwhile";
}

async function attemptCommit(
  { deps, contention }: Context,
  commands: readonly Command[],
  { attempts, patience }: { readonly attempts: Attempt[]; readonly patience: Patience },
): Promise<readonly CommitOutcome[]> {
  const names = namesToLock(commands);
  const keys = names.map(keyOf);
  const avoided =
    patience === "short" ? contention.avoided(keys) : new Set(patience === "none" ? keys : []);
  let wroteEvents = false;
  const work = async (tx: Queryable): Promise<readonly CommitOutcome[]> => {
    // They travel together and run one after the other. The last must be a statement of its own:
    // its snapshot is taken under the locks, so it sees the answers of those that held them before.
    const [{ usages, held }, answers] = await Promise.all([
      lockVouchers(tx, names, avoided),
      findAnswers(tx, keysOf(commands)),
    ]);
    contention.settle({ locked: usages.keys(), held, waited: patience === "none" });
    // A repeat of an attempt that was committed would take twice. Under the lock it is known.
    const done = await findDone(tx, attempts);
    if (done !== undefined) return done.outcomes;
    const answered = new Map([...answers].map(([key, answer]) => [key, answer.requestHash]));
    const current = await currentDefinitions(tx, deps, { commands, usages });
    const decisions = decideCommits({ commands: current.commands, usages, held, answered });
    const { templates } = current;
    const rendered = renderCommits(commands, decisions, { ...deps, templates, answers });
    await store(tx, rendered.writes);
    const [first] = rendered.writes.redemptions;
    if (first !== undefined) {
      attempts.push({
        projectId: first.projectId,
        redemptionId: first.id,
        outcomes: rendered.outcomes,
      });
    }
    wroteEvents = rendered.writes.events.length > 0;
    return rendered.outcomes;
  };
  const outcomes = await deps.db.transaction(
    work,
    patience === "short" ? { lockTimeoutMs: LOCK_PATIENCE_MS } : {},
  );
  if (wroteEvents) deps.onEvents();
  return outcomes;
}

async function findDone(tx: Queryable, attempts: readonly Attempt[]): Promise<Attempt | undefined> {
  for (const attempt of attempts) {
    if (await hasRedemption(tx, attempt.projectId, attempt.redemptionId)) return attempt;
  }
  return undefined;
}

const keysOf = (commands: readonly Command[]) =>
  commands.flatMap(({ projectId, idempotency }) =>
    idempotency === null ? [] : { projectId, key: idempotency.key },
  );

async function store(tx: Queryable, writes: CommitWrites): Promise<void> {
  if (writes.redemptions.length === 0 && writes.answers.length === 0) return;
  const stored = await writeCommits(tx, writes);
  if (stored < writes.answers.length) throw new AnsweredMeanwhile();
}

const internalError = ({ message }: Command): CommitOutcome => ({
  $typeName: "scrip.voucher.v1.CommitOutcome",
  outcome: {
    case: "refused",
    value: {
      $typeName: "scrip.common.v1.Error",
      code: catalogue.internal_error.http,
      key: "internal_error",
      message: catalogue.internal_error.message,
      requestId: message.requestId,
    },
  },
  replayed: false,
});

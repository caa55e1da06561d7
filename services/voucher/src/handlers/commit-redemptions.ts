import { isUniqueViolation, type Queryable } from "@scrip/postgres";
import type {
  CommitOutcome,
  RedemptionCommand,
  RedemptionService,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { type Handler, runInterleaved } from "@scrip/rpc";

import { type Contention, createContention } from "../batch/contention.ts";
import { namesToLock } from "../batch/lock-rows.ts";
import { AnsweredMeanwhile, runLocked, takeApart } from "../batch/locked-batch.ts";
import { createScopes, type Scopes } from "../batch/total-rows.ts";
import { renderCommits } from "../commit/build-outcomes.ts";
import { internalError } from "../commit/build-rejections.ts";
import { currentDefinitions } from "../commit/current-definitions.ts";
import { type Command, parseCommand } from "../commit/parse-command.ts";
import { storeCommits } from "../commit/write.ts";
import type { Deps } from "../deps.ts";
import { decideCommits } from "../domain/commit.ts";
import { rowKey } from "../domain/usage.ts";
import { gatherLocks } from "../loading/session-locks.ts";
import { hasRedemption } from "../store/commit-statement.ts";
import { readCounts } from "../store/counts.ts";
import { findAnswers } from "../store/idempotency.ts";
import { type Claim, findClaims, type PointsHoldKey } from "../store/points-claims.ts";

/**
 * Takes value: locks the vouchers, campaigns and tiers of all commands, decides in memory, writes
 * everything, commits once (design/reliability.md §2.4). One hot code costs one lock and one flush for
 * each batch.
 */
export const commitRedemptions = (
  deps: Deps,
): Handler<typeof RedemptionService.method.commitRedemptions> => {
  const context = { deps, db: deps.db, contention: createContention(), scopes: createScopes() };
  return async (request) => {
    // Before the transaction: what is cached or read here is only used when its version is the
    // locked one.
    await deps.templates.load(deps.db, request.commands.flatMap(wantedBy));
    const commands = request.commands.map((message) => parseCommand(message, deps.templates));
    const outcomes = await takeApart(commands, {
      run: (some) => commit(context, some),
      refuse: ({ message }, cause) => {
        deps.onError(new Error("a redemption could not be stored", { cause }));
        return internalError(message.requestId);
      },
    });
    return {
      $typeName: "scrip.voucher.v1.CommitRedemptionsResponse",
      outcomes: [...outcomes],
    };
  };
};

type Context = {
  readonly deps: Deps;
  readonly db: Deps["db"];
  readonly contention: Contention;
  readonly scopes: Scopes;
};

const wantedBy = ({ projectId, parts }: RedemptionCommand) =>
  parts.flatMap(({ redeemable, definitionVersion: version }) =>
    redeemable.case === "voucherId" ? [{ projectId, id: redeemable.value, version }] : [],
  );

/** An earlier attempt whose commit may have been done although its answer got lost. */
type Attempt = {
  readonly projectId: string;
  readonly redemptionId: string;
  readonly outcomes: readonly CommitOutcome[];
};

async function commit(
  context: Context,
  commands: readonly Command[],
): Promise<readonly CommitOutcome[]> {
  const { deps } = context;
  const names = namesToLock(commands);
  await context.scopes.ensure(deps.db, names.scopes);
  const attempts: Attempt[] = [];
  let wroteEvents = false;
  const outcomes = await runLocked(context, {
    names,
    isRepeatable,
    mayBeDone: () => attempts.length > 0,
    work: async (tx, lock) => {
      // They travel together and run one after the other. The last must be statements of their own:
      // their snapshots are taken under the locks, so they see what those did that held them before.
      const [{ usages, held }, answers, counts] = await Promise.all([
        lock(),
        findAnswers(tx, keysOf(commands)),
        readCounts(tx, countsOf(commands)),
      ]);
      // A repeat of an attempt that was committed would take twice. Under the lock it is known.
      const done = await findDone(tx, attempts);
      if (done !== undefined) return done.outcomes;
      const answered = new Map([...answers].map(([key, answer]) => [key, answer.requestHash]));
      const [current, claims, locks] = await Promise.all([
        currentDefinitions(tx, deps, { commands, usages }),
        findClaims(tx, spendsOf(commands)),
        gatherLocks(
          tx,
          usages,
          commands.filter(({ refused }) => !refused),
        ),
      ]);
      const claimed = new Set(claims.map(keyOfClaim));
      const decided = {
        commands: current.commands,
        usages,
        held,
        answered,
        counts,
        locks,
        claimed,
      };
      const known = { ...deps, templates: current.templates, answers };
      const rendered = await runInterleaved(
        renderCommits(commands, decideCommits(decided), known),
        Number.POSITIVE_INFINITY,
      );
      await storeCommits(tx, rendered.writes);
      const [first] = rendered.writes.redemptions;
      if (first !== undefined) {
        const { projectId, id: redemptionId } = first;
        attempts.push({ projectId, redemptionId, outcomes: rendered.outcomes });
      }
      wroteEvents = rendered.writes.events.length > 0;
      return rendered.outcomes;
    },
  });
  if (wroteEvents) deps.onEvents();
  return outcomes;
}

const isRepeatable = (error: unknown): boolean =>
  error instanceof AnsweredMeanwhile ||
  // An id was drawn twice; the next attempt draws others.
  isUniqueViolation(error, "redemption_pkey") ||
  // A spend was given up after it was looked up.
  isUniqueViolation(error, "points_claim_pkey") ||
  isUniqueViolation(error, "outbox_pkey");

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

const spendsOf = (commands: readonly Command[]): readonly PointsHoldKey[] =>
  commands.flatMap(({ projectId, parts }) =>
    parts.flatMap(({ spendId }) => (spendId === null ? [] : [{ projectId, spendId }])),
  );

const keyOfClaim = ({ projectId, spendId }: Claim): string => rowKey(projectId, spendId);

const countsOf = (commands: readonly Command[]) =>
  commands.flatMap(({ parts, refused }) =>
    refused ? [] : parts.flatMap(({ guards }) => guards.map(({ count }) => count)),
  );

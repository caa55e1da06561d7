import { sqlState } from "@scrip/postgres";
import type { CommitOutcome } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { runInterleaved, UNLIMITED } from "@scrip/rpc";

import { createKeyedMutex } from "../batch/keyed-mutex.ts";
import type { Deps } from "../deps.ts";
import { type CommitDecision, decideCommits } from "../domain/commit.ts";
import { NO_LOCKS } from "../domain/session-locks.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { writeUnlockedCommits } from "../store/commit-statement.ts";
import { type BuiltCommits, buildCommitOutcomes } from "./build-outcomes.ts";
import { attemptsOf, type CommitLocked } from "./commit-locked.ts";
import type { Command } from "./parse-command.ts";
import { isOneStatement } from "./write.ts";

/** Commits the commands that it can, and returns their outcomes. */
export type CommitUnlocked = (commands: readonly Command[]) => Promise<Map<Command, CommitOutcome>>;

/**
 * Commits plain redemptions in one statement: decides them on the usages that this process saw last, and writes the
 * result if the rows are still the same. Otherwise nothing is written, and the commands are left to a commit under
 * locks, as is whatever would be rejected (services/decisions/0049-commits-without-waiting-for-locks.md).
 */
export function createCommitUnlocked(deps: Deps, commitLocked: CommitLocked): CommitUnlocked {
  const mutex = createKeyedMutex();
  return async (commands) => {
    const plain = plainCommands(commands);
    if (plain.length === 0) return new Map();
    const unlock = await mutex.lock([...new Set(plain.map(voucherKey))]);
    if (unlock === undefined) return new Map();
    try {
      return await commitPlain(deps, commitLocked, plain);
    } finally {
      unlock();
    }
  };
}

async function commitPlain(
  deps: Deps,
  commitLocked: CommitLocked,
  commands: readonly Command[],
): Promise<Map<Command, CommitOutcome>> {
  const batch = decideOnSeenUsages(deps, commands);
  if (batch.commands.length === 0) return new Map();
  const built = await runInterleaved(
    buildCommitOutcomes(batch.commands, batch.decisions, contextOf(deps, batch)),
    UNLIMITED,
  );
  if (!isOneStatement(built.writes)) return new Map();
  const written = await write(deps, batch, built);
  if (written === "nothing") return new Map();
  const outcomes =
    written === "everything"
      ? built.outcomes
      : await commitLocked(batch.commands, attemptsOf(built));
  return new Map(
    batch.commands.flatMap((command, index) => {
      const outcome = outcomes[index];
      return outcome === undefined ? [] : [[command, outcome] as const];
    }),
  );
}

async function write(
  { db, recentUsages, onEvents }: Deps,
  { usages }: Batch,
  { writes }: BuiltCommits,
): Promise<"everything" | "nothing" | "unknown"> {
  try {
    if (await writeUnlockedCommits(db, { ...writes, seen: [...usages.values()] })) {
      for (const usage of writes.usages) recentUsages.record(usage);
      onEvents();
      return "everything";
    }
  } catch (error) {
    if (!wasRolledBack(error)) return "unknown";
  }
  for (const usage of usages.values()) recentUsages.forget(usage);
  return "nothing";
}

/** Whether the statement certainly had no effect. If the connection was lost, it may have been committed. */
function wasRolledBack(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !/^(08|57P)/.test(state);
}

/**
 * The commands that need no lock. All commands of a voucher take the same way, so that they are decided in the order of
 * their arrival; those that share a key are left to the locks too.
 */
function plainCommands(commands: readonly Command[]): readonly Command[] {
  const keys = new Set<string>();
  const others = new Set<string>();
  const repeated = new Set<string>();
  for (const command of commands) {
    const { projectId, parts, idempotency } = command;
    if (!isPlain(command)) {
      for (const { voucherId } of parts) others.add(rowKey(projectId, voucherId ?? ""));
    }
    if (idempotency === null) continue;
    const key = rowKey(projectId, idempotency.key);
    if (keys.has(key)) repeated.add(key);
    keys.add(key);
  }
  if (repeated.size > 0) {
    for (const command of commands)
      if (hasKeyIn(repeated, command)) others.add(voucherKey(command));
  }
  return commands.filter((command) => isPlain(command) && !others.has(voucherKey(command)));
}

const hasKeyIn = (keys: ReadonlySet<string>, { projectId, idempotency }: Command): boolean =>
  idempotency !== null && keys.has(rowKey(projectId, idempotency.key));

/** One voucher, and nothing else that is counted, claimed or locked: no campaign, limit, points or session. */
function isPlain({ parts, sessionKey, isRejection }: Command): boolean {
  const [part] = parts;
  return (
    part !== undefined &&
    parts.length === 1 &&
    !isRejection &&
    sessionKey === null &&
    part.voucherId !== null &&
    part.campaignId === null &&
    part.holdId === null &&
    part.guards.length === 0
  );
}

const voucherKey = ({ projectId, parts }: Command): string =>
  rowKey(projectId, parts[0]?.voucherId ?? "");

type Batch = {
  readonly commands: readonly Command[];
  readonly decisions: readonly CommitDecision[];
  /** The usages that the decisions were based on, by `rowKey`. */
  readonly usages: ReadonlyMap<string, VoucherUsage>;
};

/** Leaves out the vouchers that are not known, and those of which a command is not redeemed. */
function decideOnSeenUsages(deps: Deps, commands: readonly Command[]): Batch {
  const usages = new Map<string, VoucherUsage>();
  const leftOut = new Set<string>();
  for (const command of commands) {
    const usage = seenUsage(deps, command);
    if (usage === undefined) leftOut.add(voucherKey(command));
    else usages.set(voucherKey(command), usage);
  }
  const decisions = decideCommits({ commands, usages, ...NOTHING_ELSE });
  for (const [index, command] of commands.entries()) {
    if (decisions[index]?.kind !== "committed") leftOut.add(voucherKey(command));
  }
  if (leftOut.size === 0) return { commands, decisions, usages };
  const isKept = (command: Command): boolean => !leftOut.has(voucherKey(command));
  for (const key of leftOut) usages.delete(key);
  return {
    commands: commands.filter(isKept),
    decisions: decisions.filter((_, index) => {
      const command = commands[index];
      return command !== undefined && isKept(command);
    }),
    usages,
  };
}

/** Undefined unless the usage is known, unreserved and that of the definition which the command was decided on. */
function seenUsage(
  { recentUsages, definitions }: Deps,
  command: Command,
): VoucherUsage | undefined {
  const { projectId, parts } = command;
  const { voucherId = null, definitionVersion = 0n } = parts[0] ?? {};
  const usage = recentUsages.get(projectId, voucherId ?? "");
  if (usage === undefined || usage.reserved || usage.definitionVersion !== definitionVersion)
    return undefined;
  const isCached =
    definitions.byVersion(projectId, usage.voucherId, definitionVersion) !== undefined;
  return isCached ? usage : undefined;
}

const NOTHING_ELSE = {
  lockedByOthers: new Set<string>(),
  storedHashes: new Map<string, Uint8Array>(),
  counts: [],
  locks: NO_LOCKS,
  claimedHolds: new Set<string>(),
};

const NO_RESPONSES = new Map<string, never>();

const contextOf = ({ definitions, newId }: Deps, { usages }: Batch) => ({
  definitions: {
    byId: (projectId: string, voucherId: string) => {
      const version = usages.get(rowKey(projectId, voucherId))?.definitionVersion;
      return version === undefined
        ? undefined
        : definitions.byVersion(projectId, voucherId, version);
    },
  },
  newId,
  storedResponses: NO_RESPONSES,
});

import { setTimeout as sleep } from "node:timers/promises";

import {
  type Database,
  isLockTimeout,
  isRetryable,
  type Queryable,
  sqlState,
} from "@scrip/postgres";
import { activeSpan } from "@scrip/telemetry";

import type { Contention } from "./contention.ts";
import { contentionKeys, type LockedRows, lockRows, type RowKeys } from "./lock-rows.ts";

const MAX_RETRIES = 3;
/** Spreads the retries of batches that collided. */
const RETRY_DELAY_MS = { min: 10, spread: 70 };
/** Several times the duration of a full batch. A row that stays locked for longer must not delay the others. */
const LOCK_WAIT_MS = 500;

export type LockedBatch<Result> = {
  readonly keys: RowKeys;
  /** Runs in one transaction. Statements started together with `lock` run after it, in the same round trip. */
  readonly work: (tx: Queryable, lock: () => Promise<LockedRows>) => Promise<Result>;
  /** Further errors to retry, in addition to the retryable ones of the database. */
  readonly shouldRetry?: (error: unknown) => boolean;
  /** Whether an earlier attempt may have been committed although its response was lost. */
  readonly mayBeCommitted?: () => boolean;
};

/**
 * How a batch waits for rows that others lock: shortly and not for contended rows, not at all, or for all of
 * them up to the lock timeout.
 */
type LockWait = "short" | "none" | "full";

/**
 * Runs the work of a batch in a transaction over its locked rows, and retries it after retryable database errors.
 * A batch that waited in vain runs again without waiting, so that only commands on locked rows are rejected
 * (docs/redemption-and-rollback.md#concurrency).
 */
export async function runLocked<Result>(
  context: { readonly db: Database; readonly contention: Contention },
  batch: LockedBatch<Result>,
): Promise<Result> {
  // Only under the locks is it certain whether an earlier attempt was committed.
  const waiting = (): LockWait => (batch.mayBeCommitted?.() === true ? "full" : "short");
  let lockWait = waiting();
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt(context, batch, lockWait);
    } catch (error) {
      if (lockWait === "short" && isLockTimeout(error)) {
        lockWait = "none";
        continue;
      }
      const isRepeatable = isRetryable(error) || batch.shouldRetry?.(error) === true;
      if (retries >= MAX_RETRIES || !isRepeatable) throw error;
      lockWait = waiting();
      await sleep(RETRY_DELAY_MS.min + Math.random() * RETRY_DELAY_MS.spread);
    }
  }
}

function attempt<Result>(
  { db, contention }: { readonly db: Database; readonly contention: Contention },
  { keys: rowKeys, work }: LockedBatch<Result>,
  lockWait: LockWait,
): Promise<Result> {
  const keys = contentionKeys(rowKeys);
  const contended =
    lockWait === "short" ? contention.contended(keys) : new Set(lockWait === "none" ? keys : []);
  const lock = async (tx: Queryable): Promise<LockedRows> => {
    const span = activeSpan();
    const begun = span === undefined ? 0 : performance.now();
    const rows = await lockRows(tx, rowKeys, contended);
    span?.annotate({
      "lock.rows": keys.length,
      "lock.rows_skipped": rows.lockedByOthers.size,
      "lock.wait_ms": performance.now() - begun,
    });
    const { lockedByOthers } = rows;
    contention.record({
      locked: [...rows.usages.keys(), ...rows.scopes],
      lockedByOthers,
      waited: lockWait === "none",
    });
    return rows;
  };
  return db.transaction(
    (tx) => work(tx, () => lock(tx)),
    lockWait === "short" ? { lockTimeoutMs: LOCK_WAIT_MS } : {},
  );
}

/** Data exceptions and constraint violations: the same statement would fail again. */
const isUnstorable = (error: unknown): boolean => /^2[23]/.test(sqlState(error) ?? "");

/** Runs the items of a batch one by one when the batch cannot be stored, so that one bad item fails alone. */
export async function retryItemsSeparately<Item, Result>(
  items: readonly Item[],
  {
    run,
    reject,
  }: {
    readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
    /** The result of an item that cannot be stored on its own. */
    readonly reject: (item: Item, cause: unknown) => Result;
  },
): Promise<readonly Result[]> {
  try {
    return await run(items);
  } catch (error) {
    if (!isUnstorable(error)) throw error;
    const [only, ...others] = items;
    if (only !== undefined && others.length === 0) return [reject(only, error)];
    const results: Result[] = [];
    for (const item of items)
      results.push(...(await retryItemsSeparately([item], { run, reject })));
    return results;
  }
}

/** Another transaction stored a response under one of our keys concurrently; that response counts. */
export class ConcurrentResponseError extends Error {
  override readonly name = "AnsweredMeanwhile";
}

import { setTimeout as sleep } from "node:timers/promises";

import { type Database, isRetryable, type Queryable, sqlState } from "@scrip/postgres";

import type { Contention } from "./contention.ts";
import { keysOf, type LockedRows, lockRows, type RowNames } from "./lock-rows.ts";

const MAX_RETRIES = 3;
/** Spreads the retries of batches that met each other. */
const RETRY_DELAY_MS = { min: 10, spread: 70 };
/** Several times what a full batch takes. Whoever holds a row for longer must not hold up the others. */
const LOCK_PATIENCE_MS = 500;

export type LockedBatch<Result> = {
  readonly names: RowNames;
  /** One transaction. What is started together with `lock` runs after it, on one trip. */
  readonly work: (tx: Queryable, lock: () => Promise<LockedRows>) => Promise<Result>;
  /** Beside what a database may always ask for: reasons to do the work again. */
  readonly isRepeatable?: (error: unknown) => boolean;
  /** Whether the commit of an earlier attempt may have been done although its answer got lost. */
  readonly mayBeDone?: () => boolean;
};

/**
 * How a batch waits for rows that others hold: for a short time and without those that are known to
 * be held for long, not at all, or for all of them as long as any statement may.
 */
type Patience = "short" | "none" | "full";

/**
 * Does the work of a batch in a transaction over its locked rows, again when the database asks for
 * it. A batch that has waited in vain is run again without waiting, so that only what needs the held
 * rows is refused.
 */
export async function runLocked<Result>(
  context: { readonly db: Database; readonly contention: Contention },
  batch: LockedBatch<Result>,
): Promise<Result> {
  let patience: Patience = "short";
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt(context, batch, patience);
    } catch (error) {
      if (patience === "short" && sqlState(error) === LOCK_TIMEOUT) {
        patience = "none";
        continue;
      }
      const isRepeatable = isRetryable(error) || batch.isRepeatable?.(error) === true;
      if (retries >= MAX_RETRIES || !isRepeatable) throw error;
      // What may have been committed is only known for sure under the locks.
      patience = batch.mayBeDone?.() === true ? "full" : "short";
      await sleep(RETRY_DELAY_MS.min + Math.random() * RETRY_DELAY_MS.spread);
    }
  }
}

const LOCK_TIMEOUT = "55P03";

function attempt<Result>(
  { db, contention }: { readonly db: Database; readonly contention: Contention },
  { names, work }: LockedBatch<Result>,
  patience: Patience,
): Promise<Result> {
  const keys = keysOf(names);
  const avoided =
    patience === "short" ? contention.avoided(keys) : new Set(patience === "none" ? keys : []);
  const lock = async (tx: Queryable): Promise<LockedRows> => {
    const rows = await lockRows(tx, names, avoided);
    const { held } = rows;
    contention.settle({
      locked: [...rows.usages.keys(), ...rows.scopes],
      held,
      waited: patience === "none",
    });
    return rows;
  };
  return db.transaction(
    (tx) => work(tx, () => lock(tx)),
    patience === "short" ? { lockTimeoutMs: LOCK_PATIENCE_MS } : {},
  );
}

/** Data exceptions and broken constraints: repeating the same statement would fail the same way. */
const isBadItem = (error: unknown): boolean => /^2[23]/.test(sqlState(error) ?? "");

/** A batch that cannot be stored as a whole is taken apart, so that one bad item harms no other. */
export async function takeApart<Item, Result>(
  items: readonly Item[],
  {
    run,
    refuse,
  }: {
    readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
    /** Answers for an item that cannot be stored by itself. */
    readonly refuse: (item: Item, cause: unknown) => Result;
  },
): Promise<readonly Result[]> {
  try {
    return await run(items);
  } catch (error) {
    if (!isBadItem(error)) throw error;
    const [only, ...others] = items;
    if (only !== undefined && others.length === 0) return [refuse(only, error)];
    const results: Result[] = [];
    for (const item of items) results.push(...(await takeApart([item], { run, refuse })));
    return results;
  }
}

/** Another transaction answered under one of our keys while we decided. Its answer counts. */
export class AnsweredMeanwhile extends Error {
  override readonly name = "AnsweredMeanwhile";
}

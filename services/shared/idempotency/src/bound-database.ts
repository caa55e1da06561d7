import { AsyncLocalStorage } from "node:async_hooks";

import { type Database, type ProjectQueryable, sqlState } from "@scrip/postgres";

/** Lock timeout of the handler's statements, as in other transactions; the claim of the key has set a shorter one. */
const LOCK_TIMEOUT_MS = 1_000;

/** Postgres reports nothing else for statements after a failed one. */
const TRANSACTION_ABORTED = "25P02";

/**
 * A database whose statements and transactions are parts of the transaction `tx`. Each is a savepoint, so that its
 * failure can be handled as if it had a transaction of its own. They run one after the other.
 */
export function bindDatabase(
  tx: ProjectQueryable,
  { size, bulk, holdSnapshot }: Pick<Database, "size" | "bulk" | "holdSnapshot">,
): Database {
  let last: Promise<unknown> = Promise.resolve();
  const inside = new AsyncLocalStorage<true>();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    if (inside.getStore() === true) throw new Error(NESTED);
    const result = last.then(() => inside.run(true, work));
    last = result.catch(() => {});
    return result;
  };
  return {
    size,
    bulk,
    holdSnapshot,
    ...bound((work) => inTurn(() => runAlone(tx, work))),
    transaction: (work, { lockTimeoutMs } = {}) =>
      inTurn(() => runTogether(tx, work, lockTimeoutMs ?? LOCK_TIMEOUT_MS)),
    close: () => Promise.resolve(),
  };
}

type RunOn = <T>(work: (tx: ProjectQueryable) => Promise<T>) => Promise<T>;

/** Statements that `run` gives to the transaction. */
const bound = (run: RunOn): ProjectQueryable => ({
  query: (statement, values) => run((tx) => tx.query(statement, values)),
  inProject: (projectId) => ({
    query: (statement, values) => run((tx) => tx.inProject(projectId).query(statement, values)),
  }),
});

/** The statement would wait for the transaction that it is part of. */
const NESTED = "A handler used its database inside a transaction: use the `tx` of the transaction";

/** One statement, which shares a round trip with its savepoint. */
async function runAlone<T>(
  tx: ProjectQueryable,
  work: (tx: ProjectQueryable) => Promise<T>,
): Promise<T> {
  const begun = begin(tx, LOCK_TIMEOUT_MS);
  const result = work(tx);
  result.catch(() => {});
  const released = tx.query(RELEASE);
  released.catch(() => {});
  try {
    await begun;
    const rows = await result;
    await released;
    return rows;
  } catch (error) {
    await rollback(tx, begun);
    throw error;
  }
}

async function runTogether<T>(
  tx: ProjectQueryable,
  work: (tx: ProjectQueryable) => Promise<T>,
  lockTimeoutMs: number,
): Promise<T> {
  const begun = begin(tx, lockTimeoutMs);
  // Of statements that were started together, the first failure is the cause of the others.
  const failures: unknown[] = [];
  try {
    const result = await work(
      bound((statement) => {
        const rows = statement(tx);
        rows.catch((error: unknown) => failures.push(error));
        return rows;
      }),
    );
    await begun;
    // Not awaited: it fails only together with the savepoint of the next part, or the commit.
    tx.query(RELEASE).catch(() => {});
    return result;
  } catch (error) {
    const cause = sqlState(error) === TRANSACTION_ABORTED ? (failures[0] ?? error) : error;
    await rollback(tx, begun);
    throw cause;
  }
}

const RELEASE = "release savepoint part";
const ROLLBACK = "rollback to savepoint part; release savepoint part";

function begin(tx: ProjectQueryable, lockTimeoutMs: number): Promise<unknown> {
  const begun = tx.query(`savepoint part; set local lock_timeout = ${lockTimeoutMs}`);
  begun.catch(() => {});
  return begun;
}

/**
 * Without the savepoint of this part, it would return to that of an earlier one, which ended although a statement had failed:
 * the transaction would continue without the writes of that part.
 */
async function rollback(tx: ProjectQueryable, begun: Promise<unknown>): Promise<void> {
  await begun;
  await tx.query(ROLLBACK);
}

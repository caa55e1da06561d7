import type { PoolClient } from "pg";

import type { Planning } from "./statement.ts";

/** The setting that a planning turns off. */
const SETTINGS = { indexLookups: "enable_seqscan", hashJoins: "enable_nestloop" } as const;

/** The planning of connections whose session has another one than the default. */
const sessions = new WeakMap<PoolClient, Planning>();

/** Sent ahead of the statement, without a round trip of its own, only where the session has another setting. */
export function planSession(client: PoolClient, planning: Planning | undefined): void {
  const current = sessions.get(client);
  if (planning === current) return;
  // When this fails the connection is broken, and the statement behind it fails too.
  const send = (setting: string): void => void client.query(setting).catch(() => {});
  if (current !== undefined) send(`reset ${SETTINGS[current]}`);
  if (planning === undefined) {
    sessions.delete(client);
    return;
  }
  send(`set ${SETTINGS[planning]} = off`);
  sessions.set(client, planning);
}

/**
 * As `planSession`, but until the transaction ends, because a rollback would undo a setting of the session. Statements
 * behind an index lookup are planned like it, which saves changing the setting back.
 */
export function planTransaction(client: PoolClient): (planning: Planning | undefined) => void {
  const session = sessions.get(client);
  const current: Record<Planning, boolean> = {
    indexLookups: session === "indexLookups",
    hashJoins: session === "hashJoins",
  };
  let lookups = false;
  const change = (planning: Planning, wanted: boolean): void => {
    if (wanted === current[planning]) return;
    current[planning] = wanted;
    const value = wanted ? "= off" : "to default";
    client.query(`set local ${SETTINGS[planning]} ${value}`).catch(() => {});
  };
  return (planning) => {
    lookups ||= planning === "indexLookups";
    change("indexLookups", lookups);
    change("hashJoins", planning === "hashJoins");
  };
}

/** SQL: the planning of the transaction that has begun. */
export const planLocally = (planning: Planning): string => `set local ${SETTINGS[planning]} = off`;

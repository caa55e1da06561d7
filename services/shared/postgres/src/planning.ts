import type { PoolClient } from "pg";

import type { Planning } from "./statement.ts";

const NAMES = ["enable_seqscan", "enable_nestloop", "plan_cache_mode"] as const;

/** Settings that differ from the default. */
type Settings = Readonly<Partial<Record<(typeof NAMES)[number], string>>>;

const DEFAULTS: Settings = {};
const HASH_JOINS: Settings = { enable_nestloop: "off" };
const INDEX_LOOKUPS: Settings = { enable_seqscan: "off" };
/**
 * Without the second setting, PostgreSQL plans the statement at every execution with a few values: it compares the plan for them
 * with the general one, which it expects to look up ten rows. The lookups are the same, and planning takes longer than they do.
 */
const PREPARED_LOOKUPS: Settings = { ...INDEX_LOOKUPS, plan_cache_mode: "force_generic_plan" };

const settingsOf = (planning: Planning | undefined, isPrepared: boolean): Settings => {
  if (planning === undefined) return DEFAULTS;
  if (planning === "hashJoins") return HASH_JOINS;
  return isPrepared ? PREPARED_LOOKUPS : INDEX_LOOKUPS;
};

/** SQL that changes the settings; empty if they are the same. */
const changesOf = (from: Settings, to: Settings, scope: "session" | "local"): string =>
  NAMES.filter((name) => from[name] !== to[name])
    .map((name) => `set ${scope} ${name} to ${to[name] ?? "default"}`)
    .join("; ");

/** How a statement is executed: planned how, and prepared or not. */
export type Execution = {
  readonly planning: Planning | undefined;
  readonly isPrepared: boolean;
};

/** The settings of connections whose session has others than the default. */
const sessions = new WeakMap<PoolClient, Settings>();

/** Sent ahead of the statement, without a round trip of its own, only where the session has other settings. */
export function planSession(client: PoolClient, { planning, isPrepared }: Execution): void {
  const current = sessions.get(client) ?? DEFAULTS;
  const wanted = settingsOf(planning, isPrepared);
  if (wanted === current) return;
  // When this fails the connection is broken, and the statement behind it fails too.
  client.query(changesOf(current, wanted, "session")).catch(() => {});
  sessions.set(client, wanted);
}

/**
 * As `planSession`, but until the transaction ends, because a rollback would undo a setting of the session. Prepared
 * statements behind an index lookup are planned like it, which saves changing the settings back.
 */
export function planTransaction(client: PoolClient): (execution: Execution) => void {
  let current = sessions.get(client) ?? DEFAULTS;
  let lookups = false;
  return ({ planning, isPrepared }) => {
    lookups ||= planning === "indexLookups";
    const wanted = {
      ...settingsOf(planning, isPrepared),
      ...(lookups && settingsOf("indexLookups", isPrepared)),
    };
    const changes = changesOf(current, wanted, "local");
    current = wanted;
    if (changes !== "") client.query(changes).catch(() => {});
  };
}

/** SQL: the planning of the transaction that has begun, for a statement that is not prepared. */
export const planLocally = (planning: Planning): string =>
  changesOf(DEFAULTS, settingsOf(planning, false), "local");

import type { PoolClient } from "pg";

import { sendTogether } from "./send-together.ts";
import type { Planning, Statement } from "./statement.ts";

/** A setting of every session. Compiling the conditions of a list or an export takes longer than evaluating them, up to minutes. */
export const NO_COMPILATION = { jit: "off" } as const;

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

/** SQL that changes the settings; empty if they are the same. Those that are not known are all set. */
const changesOf = (from: Settings | undefined, to: Settings, scope: "session" | "local"): string =>
  NAMES.filter((name) => from === undefined || from[name] !== to[name])
    .map((name) => `set ${scope} ${name} to ${to[name] ?? "default"}`)
    .join("; ");

export type Execution = {
  readonly planning: Planning | undefined;
  readonly isPrepared: boolean;
  /** Without parameters: it has no values to plan for, so that nothing is set for it. */
  readonly isText: boolean;
};

/** Behind a pooler and as the tenant role, nothing is prepared. */
export const executionOf = (
  statement: string | Statement,
  {
    values,
    isPooled = false,
  }: { readonly values?: readonly unknown[] | undefined; readonly isPooled?: boolean } = {},
): Execution => ({
  planning: planningOf(statement),
  isPrepared: !isPooled && typeof statement !== "string" && statement.name !== undefined,
  isText: typeof statement === "string" && values === undefined,
});

export const planningOf = (statement: string | Statement): Planning | undefined =>
  typeof statement === "string" ? undefined : statement.planning;

export const isRollbackToSavepoint = (statement: string | Statement): boolean =>
  typeof statement === "string" && statement.startsWith("rollback to");

/** The settings of connections whose session has others than the default. */
const sessions = new WeakMap<PoolClient, Settings>();

/** Sent ahead of the statement, without a round trip of its own, only where the session has other settings. */
export function planSession(
  client: PoolClient,
  { planning, isPrepared }: Pick<Execution, "planning" | "isPrepared">,
): void {
  const current = sessions.get(client) ?? DEFAULTS;
  const wanted = settingsOf(planning, isPrepared);
  if (wanted === current) return;
  sendTogether(client);
  // When this fails the connection is broken, and the statement behind it fails too.
  client.query(changesOf(current, wanted, "session")).catch(() => {});
  sessions.set(client, wanted);
}

/**
 * As `planSession`, but until the transaction ends, because a rollback would undo a setting of the session. Prepared
 * statements behind an index lookup are planned like it, which saves changing the settings back.
 */
export function planTransaction(client: PoolClient): {
  readonly plan: (execution: Execution) => void;
  /** After the rollback to a savepoint, which undoes the settings since then. */
  readonly forget: () => void;
} {
  let current: Settings | undefined = sessions.get(client) ?? DEFAULTS;
  let lookups = false;
  return {
    plan({ planning, isPrepared, isText }) {
      lookups ||= planning === "indexLookups";
      const keepsPlans = isPrepared || (isText && current?.plan_cache_mode !== undefined);
      const wanted = {
        ...settingsOf(planning, keepsPlans),
        ...(lookups && settingsOf("indexLookups", keepsPlans)),
      };
      const changes = changesOf(current, wanted, "local");
      current = wanted;
      if (changes !== "") client.query(changes).catch(() => {});
    },
    forget: () => void (current = undefined),
  };
}

/** SQL: the planning of the transaction that has begun, for a statement that is not prepared. */
export const planLocally = (planning: Planning): string =>
  changesOf(DEFAULTS, settingsOf(planning, false), "local");

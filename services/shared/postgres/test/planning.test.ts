import path from "node:path";

import { emptyDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import {
  createDatabase,
  type Database,
  migrate,
  type Queryable,
  type Statement,
} from "../src/index.ts";

const SERVICE = {
  schema: "till",
  role: "scrip_till",
  folder: path.join(import.meta.dirname, "fixture/till"),
};

const server = await emptyDatabase();
afterAll(() => server[Symbol.asyncDispose]());
await migrate({ url: server.url, ...SERVICE });

/** Settings belong to a connection, so there is one. */
function singleConnection(): Database & AsyncDisposable {
  const db = createDatabase({ url: server.url, ...SERVICE, poolSize: 1, onError: () => {} });
  return { ...db, [Symbol.asyncDispose]: () => db.close() };
}

test("plans a statement that looks up rows without sequential scans, and others freely", async () => {
  await using single = singleConnection();
  const settingOf = async (tx: Queryable, statement: Statement) => {
    const { rows } = await tx.query<{ setting: string; pid: number }>(statement);
    return rows[0];
  };
  const text = "select current_setting('enable_seqscan') as setting, pg_backend_pid() as pid";
  const free = { text, values: [] };
  const lookup = { name: "lookup", text, values: [], planning: "indexLookups" } as const;
  const sequence = (...statements: readonly Statement[]) =>
    single.transaction((tx) => Promise.all(statements.map((one) => settingOf(tx, one))));

  const results = [
    await settingOf(single, free),
    await settingOf(single, lookup),
    await settingOf(single, lookup),
    // The session plans without scans now.
    ...(await sequence(free)),
    ...(await sequence(free, lookup, free)),
    await settingOf(single, free),
    // Now with scans.
    ...(await sequence(lookup, free)),
    await settingOf(single, free),
    await settingOf(single, lookup),
  ];

  expect(results.map((one) => one?.setting)).toEqual([
    "on",
    "off",
    "off",
    "on",
    // From the lookup to the end of the transaction.
    "on",
    "off",
    "off",
    "on",
    "off",
    "off",
    "on",
    "off",
  ]);
  expect(new Set(results.map((one) => one?.pid)).size).toBe(1);
});

test("plans a prepared lookup once, whatever its values are", async () => {
  await using single = singleConnection();
  const lookup = (names: readonly string[]) =>
    ({
      name: "lookup-once",
      text: `select relation.oid
               from unnest($1::text[]) as wanted (name)
              cross join lateral (
                      select oid from pg_class where relname = wanted.name order by relname limit 1
                    ) as relation`,
      values: [names],
      planning: "indexLookups",
    }) as const;
  const plansOf = async (tx: Queryable) => {
    const { rows } = await tx.query(
      `select generic_plans::int, custom_plans::int from pg_prepared_statements
        where name = 'lookup-once'`,
    );
    return rows[0];
  };
  for (let nth = 0; nth < 3; nth += 1) await single.query(lookup(["pg_class"]));
  expect(await plansOf(single)).toEqual({ generic_plans: 3, custom_plans: 0 });
  await single.transaction(async (tx) => {
    for (let nth = 0; nth < 3; nth += 1) await tx.query(lookup(["pg_class", "pg_type"]));
    // A statement without a name is planned for its values.
    const mode = await tx.query("select current_setting($1) as mode", ["plan_cache_mode"]);
    expect(mode.rows).toEqual([{ mode: "auto" }]);
    await tx.query(lookup(["pg_class"]));
  });
  expect(await plansOf(single)).toEqual({ generic_plans: 7, custom_plans: 0 });
});

test("keeps the planning of a session correct when a transaction is rolled back", async () => {
  await using single = singleConnection();
  const text = "select current_setting('enable_seqscan') as setting";
  const lookup = { text, values: [], planning: "indexLookups" } as const;

  const failing = single.transaction(async (tx) => {
    await tx.query(lookup);
    await tx.query("select 1 / 0");
  });

  await expect(failing).rejects.toThrow("division by zero");
  expect((await single.query(text)).rows).toEqual([{ setting: "on" }]);
  expect((await single.query(lookup)).rows).toEqual([{ setting: "off" }]);
});

test("plans lookups without sequential scans after a rollback to a savepoint", async () => {
  await using single = singleConnection();
  const lookup = {
    name: "lookup-after-rollback",
    text: "select current_setting('enable_seqscan') || ' ' || current_setting('plan_cache_mode') as setting",
    values: [],
    planning: "indexLookups",
  } as const;
  const settings = await single.transaction(async (tx) => {
    await tx.query("savepoint part");
    const before = await tx.query(lookup);
    await tx.query("rollback to savepoint part");
    const after = await tx.query(lookup);
    return [before, after].map(({ rows }) => rows[0]?.["setting"] as unknown);
  });
  expect(settings).toEqual(["off force_generic_plan", "off force_generic_plan"]);
  expect((await single.query("select current_setting('enable_seqscan') as s")).rows).toEqual([
    { s: "on" },
  ]);
});

test("plans each statement that asks for hash joins without nested loops, and no other", async () => {
  await using single = singleConnection();
  const text = `select current_setting('enable_nestloop') || ' ' || current_setting('enable_seqscan')
                    as setting`;
  const statements: readonly Statement[] = (
    [undefined, "hashJoins", "indexLookups", "hashJoins", undefined] as const
  ).map((planning) => ({ text, values: [], ...(planning && { planning }) }));
  const settingsOf = async (runner: Queryable): Promise<unknown[]> => {
    const settings: unknown[] = [];
    for (const each of statements) settings.push((await runner.query(each)).rows[0]?.["setting"]);
    return settings;
  };

  const alone = ["on on", "off on", "on off", "off on", "on on"];
  expect(await settingsOf(single)).toEqual(alone);
  // A transaction plans with indexes from its first lookup on.
  const together = ["on on", "off on", "on off", "off off", "on off"];
  expect(await single.transaction(settingsOf)).toEqual(together);
  expect(await settingsOf(single)).toEqual(alone);
});

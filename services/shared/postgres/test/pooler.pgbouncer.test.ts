import path from "node:path";

import { emptyDatabase, testPgBouncer } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { createDatabase, migrate, sessionStatement } from "../src/index.ts";

const SCHEMA = "till";
const ROLE = "scrip_test_till";
const folder = path.join(import.meta.dirname, "fixture/till");

const { url, ...database } = await emptyDatabase();
afterAll(() => database[Symbol.asyncDispose]());
await migrate({ url, schema: SCHEMA, role: ROLE, folder });

const tenants = { schema: "tenants", role: "scrip_test_pooled" };
await migrate({ url, ...tenants, folder: path.join(import.meta.dirname, "fixture/tenants") });

const own = { schema: SCHEMA, role: ROLE };
const pooler = await testPgBouncer({
  url,
  connectQueries: {
    [SCHEMA]: sessionStatement(own),
    tenants: sessionStatement(tenants),
    other: "select 1",
  },
  poolSize: 2,
});
afterAll(() => pooler[Symbol.asyncDispose]());

const open = (schema = SCHEMA) =>
  createDatabase({
    ...own,
    schema,
    url,
    poolerUrl: pooler.url,
    poolSize: 20,
    onError: () => {},
  });

describe("a database behind PgBouncer in transaction mode", () => {
  const db = open();
  afterAll(() => db.close());
  const lookup = { name: "lookup", planning: "indexLookups", text: "", values: [] } as const;

  test("has the role, the schema and the limits of the service", async () => {
    const { rows } = await db.query(
      `select current_user::text as role, current_schema()::text as schema,
              current_setting('statement_timeout') as statements, current_setting('lock_timeout') as locks,
              current_setting('idle_in_transaction_session_timeout') as idle`,
    );
    expect(rows).toEqual([
      { role: ROLE, schema: SCHEMA, statements: "3s", locks: "1s", idle: "5s" },
    ]);
  });

  test("runs named statements and transactions of many callers on two sessions", async () => {
    const named = (value: number) => ({
      name: "add",
      text: "select $1::int + 1 as sum",
      values: [value],
    });
    const results = await Promise.all(
      Array.from({ length: 200 }, async (_, value) => {
        if (value % 2 === 0) return (await db.query<{ sum: number }>(named(value))).rows[0]?.sum;
        return db.transaction(async (tx) => {
          const both = await Promise.all([
            tx.query<{ sum: number }>(named(value)),
            tx.query<{ pid: number }>("select pg_backend_pid() as pid"),
            tx.query<{ pid: number }>("select pg_backend_pid() as pid"),
          ]);
          expect(both[1].rows[0]?.pid).toBe(both[2].rows[0]?.pid);
          return both[0].rows[0]?.sum;
        });
      }),
    );
    expect(results).toEqual(Array.from({ length: 200 }, (_, value) => value + 1));
  });

  test("plans lookups without scans, and leaves no setting to the next owner of a session", async () => {
    const setting =
      "select current_setting('enable_seqscan') as scans, current_setting('lock_timeout') as locks";
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const { rows } = await db.query({ ...lookup, text: setting });
      expect(rows).toEqual([{ scans: "off", locks: "1s" }]);
      await db.transaction((tx) => tx.query({ ...lookup, text: setting }), { lockTimeoutMs: 7 });
      expect((await db.query(setting)).rows).toEqual([{ scans: "on", locks: "1s" }]);
    }
  });

  test("recovers from statements that fail", async () => {
    const failing = { ...lookup, text: "select 1 / $1::int as result", values: [0] };
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await expect(db.query(failing)).rejects.toMatchObject({ code: "22012" });
      await expect(db.transaction((tx) => tx.query(failing))).rejects.toMatchObject({
        code: "22012",
      });
    }
    expect((await db.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });
});

test("statements of projects see their own rows on shared sessions, which keep neither role nor setting", async () => {
  const db = createDatabase({
    ...tenants,
    url,
    poolerUrl: pooler.url,
    poolSize: 20,
    onError: () => {},
  });
  await db.query("insert into sale values ('p0', 'a', 1), ('p1', 'b', 1), ('p2', 'c', 1)");
  const sales = {
    planning: "indexLookups",
    text: "select project_id from sale order by 1",
    values: [],
  } as const;
  const seen = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const project = db.inProject(`p${n % 3}`);
      if (n % 10 === 0) await expect(project.query("select 1 / 0")).rejects.toThrow("division");
      const rows = n % 4 === 0 ? await db.query(sales) : await project.query(sales);
      return rows.rows.map((row) => row["project_id"]);
    }),
  );
  expect(seen).toEqual(
    Array.from({ length: 200 }, (_, n) => (n % 4 === 0 ? ["p0", "p1", "p2"] : [`p${n % 3}`])),
  );
  const inTransaction = await db.transaction(async (tx) => [
    (await tx.inProject("p1").query(sales)).rowCount,
    (await tx.query(sales)).rowCount,
  ]);
  expect(inTransaction).toEqual([1, 3]);
  await db.close();
});

test("rejects sessions without the settings of the service, and says which", async () => {
  const db = open("other");
  await expect(db.query("select 1")).rejects.toThrow(
    "The database other of the pooler needs connect_query = 'set role = scrip_test_till; set search_path = other",
  );
  await db.close();
});

import path from "node:path";

import { emptyDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { countRows, createDatabase, migrate, readPage } from "../src/index.ts";

const SERVICE = {
  schema: "till",
  role: "scrip_till",
  folder: path.join(import.meta.dirname, "fixture/till"),
};

const { url, ...database } = await emptyDatabase();
await migrate({ url, ...SERVICE });
const limits = { poolSize: 1, statementTimeoutMs: 300 };
const db = createDatabase({ url, ...SERVICE, ...limits, onError: () => {} });
afterAll(async () => {
  await db.close();
  await database[Symbol.asyncDispose]();
});

const MANY = 1_000_000_000;

test("counts rows, and estimates those that take longer than a statement may", async () => {
  const from = "from generate_series(1, $1::bigint) as n where n > 0";
  expect(await countRows(db, from, [1_000])).toBe(1_000n);
  expect(await countRows(db, "from generate_series(1, $1::bigint) as n", [MANY])).toBe(
    BigInt(MANY),
  );
});

test("reports other failures", async () => {
  await expect(countRows(db, "from no_such_table", [])).rejects.toThrow("no_such_table");
});

test("an estimated total is not less than the rows that a page has read", async () => {
  // A page ends early; counting takes a second, and the planner expects one row.
  const from = `from generate_series(1, 100) as n
                where n + $1::int = n and pg_sleep(0.01) is not null`;
  const page = { projectId: "p", columns: "n", from, order: "null::int", values: [0] };
  expect(await countRows(db, from, [0])).toBe(1n);
  expect(await readPage(db, { ...page, limit: 10, offset: 5 })).toMatchObject({
    total: 16n,
    hasMore: true,
  });
});

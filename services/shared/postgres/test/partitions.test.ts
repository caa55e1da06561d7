import { emptyDatabase } from "@scrip/testing";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { boundaryInstants, maintainPartitions, type PartitionedTable } from "../src/index.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TABLE: PartitionedTable = {
  table: "note",
  column: "created_at",
  everyMs: DAY_MS,
  keepMs: 48 * HOUR_MS,
};

let parts: AsyncDisposableStack;
let url: string;
let client: Client;

beforeAll(async () => {
  await using made = new AsyncDisposableStack();
  ({ url } = made.use(await emptyDatabase()));
  client = await connect();
  made.defer(() => client.end());
  parts = made.move();
});
afterAll(() => parts.disposeAsync());
beforeEach(() =>
  client.query(
    `drop schema if exists store cascade; create schema store;
     create table note (key text not null, created_at timestamptz not null default now())
       partition by range (created_at);
     create table note_default partition of note (primary key (key)) default`,
  ),
);

async function connect(): Promise<Client> {
  const connected = new Client({
    connectionString: url,
    options: "-c search_path=store -c timezone=UTC",
  });
  await connected.connect();
  return connected;
}

const maintain = (table: Partial<PartitionedTable> = {}) =>
  maintainPartitions({ url, schema: "store", tables: [{ ...TABLE, ...table }] });

async function partitions(): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'note'::regclass order by 1",
  );
  return rows.map(({ name }) => name);
}

const insert = (key: string, at: Date | string) =>
  client.query("insert into note (key, created_at) values ($1, $2) on conflict do nothing", [
    key,
    at,
  ]);

async function keys(): Promise<readonly string[]> {
  const { rows } = await client.query<{ key: string }>("select key from note order by key");
  return rows.map(({ key }) => key);
}

const daysFromNow = (days: number): Date => new Date(Date.now() + days * DAY_MS);
const nameOf = (at: Date): string => `note_p${at.toISOString().slice(0, 10).replaceAll("-", "")}00`;

test("creates the current partition and those ahead, and nothing the next time", async () => {
  const ahead = [0, 1, 2].map((days) => nameOf(daysFromNow(days)));
  expect((await maintain()).created).toEqual(ahead);
  expect(await maintain()).toEqual({ created: [], dropped: [], deleted: 0 });
  expect(await partitions()).toEqual(["note_default", ...ahead]);
  await insert("now", new Date());
  const { rows } = await client.query("select tableoid::regclass::text as name from note");
  expect(rows).toEqual([{ name: ahead[0] }]);
});

test("drops a partition when its last possible row has expired, and no earlier", async () => {
  const dayOf = (days: number): Date =>
    new Date(Math.floor(daysFromNow(days).getTime() / DAY_MS) * DAY_MS);
  for (const days of [-4, -3, -2, -1]) {
    await client.query(
      `create table ${nameOf(dayOf(days))} partition of note (primary key (key))
         for values from ('${dayOf(days).toISOString()}') to ('${dayOf(days + 1).toISOString()}')`,
    );
    await insert(`days${-days}`, dayOf(days));
  }
  // Rows of the day before the day before yesterday are 48 hours old at the end of that day.
  expect((await maintain()).dropped).toEqual([nameOf(dayOf(-4)), nameOf(dayOf(-3))]);
  expect(await keys()).toEqual(["days1", "days2"]);
});

test("drops the table of the time before partitions, which has no lower bound", async () => {
  await client.query(
    `create table note_p0000000000 (key text primary key, created_at timestamptz not null);
     alter table note attach partition note_p0000000000 for values from (minvalue) to ('2020-01-01')`,
  );
  await insert("ancient", "2019-06-01");
  expect((await maintain()).dropped).toEqual(["note_p0000000000"]);
  expect(await keys()).toEqual([]);
});

test("stores a row without a partition in the default one, where it expires alone", async () => {
  await insert("now", new Date());
  await insert("old", daysFromNow(-3));
  const changes = await maintain();
  // The current day has a row in the default partition, so it stays there.
  expect(changes.created).toEqual([1, 2].map((days) => nameOf(daysFromNow(days))));
  expect(changes.deleted).toBe(1);
  expect(await keys()).toEqual(["now"]);
  await insert("now", new Date());
  expect(await keys()).toEqual(["now"]);
});

test("retains what is still needed", async () => {
  await client.query(
    `create table note_p2020010100 partition of note for values from ('2020-01-01') to ('2020-01-02')`,
  );
  await insert("needed", "2020-01-01");
  await insert("needed, without a partition", "2020-03-01");
  await insert("not needed", "2019-12-31");
  const neededSince = async (): Promise<Date> => new Date("2020-01-01T12:00:00Z");
  expect(await maintain({ neededSince })).toMatchObject({ dropped: [], deleted: 1 });
  expect(await keys()).toEqual(["needed", "needed, without a partition"]);
});

test("waits for readers of a partition, and lets writers pass between its attempts", async () => {
  await client.query(
    `create table note_p2020010100 partition of note for values from ('2020-01-01') to ('2020-01-02')`,
  );
  await maintain({ keepMs: 100_000 * DAY_MS });
  const reader = await connect();
  await reader.query("begin");
  await reader.query("select * from note");
  const dropping = maintain();
  for (let nth = 0; nth < 10; nth += 1) {
    await insert(`beside ${nth}`, new Date());
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  expect(await partitions()).toContain("note_p2020010100");
  await reader.query("commit");
  await reader.end();
  expect((await dropping).dropped).toEqual(["note_p2020010100"]);
  expect(await keys()).toHaveLength(10);
});

test("drops the table that an interrupted run detached", async () => {
  await client.query("create table note_p2020010100 (like note)");
  expect((await maintain()).dropped).toEqual(["note_p2020010100"]);
});

test("only one of several processes works", async () => {
  const runs = await Promise.all([maintain(), maintain(), maintain()]);
  expect(runs.flatMap(({ created }) => created).toSorted()).toEqual(
    [0, 1, 2].map((days) => nameOf(daysFromNow(days))),
  );
});

test("stores a key once for transactions on both sides of a boundary", async () => {
  // A boundary within the next two seconds.
  const boundary = Math.ceil((Date.now() + 500) / 1_000) * 1_000;
  const everyMs = boundary / 1_000;
  await maintain({ everyMs });
  const store = (connection: Client, key: string) =>
    connection.query(
      `insert into note (key, created_at) select $1, at from ${boundaryInstants({ table: "note", everyMs })}
           on conflict do nothing`,
      [key],
    );
  const [before, after] = await Promise.all([connect(), connect()]);
  await before.query("begin");
  await before.query("select now()");
  await new Promise((resolve) => setTimeout(resolve, boundary + 100 - Date.now()));
  await after.query("begin");
  expect((await store(before, "first")).rowCount).toBe(2);
  const second = store(after, "first");
  const aborted = store(after, "second").catch(() => {});
  await before.query("commit");
  // It waited for the other transaction, and stored nothing of the key.
  expect((await second).rowCount).toBe(0);
  await aborted;
  await after.query("commit");
  const { rows } = await client.query<{ key: string; count: number; tables: number }>(
    "select key, count(*)::int, count(distinct tableoid)::int as tables from note group by key order by key",
  );
  expect(rows).toEqual([
    { key: "first", count: 2, tables: 2 },
    { key: "second", count: 2, tables: 2 },
  ]);
  await Promise.all([before.end(), after.end()]);
});

test("stores a key at one instant near a boundary within the default partition", async () => {
  // A multiple of it is the next second.
  const everyMs = Math.ceil(Date.now() / 1_000);
  const { rows } = await client.query(
    `select at = now() as now from ${boundaryInstants({ table: "note", everyMs })}`,
  );
  expect(rows).toEqual([{ now: true }]);
});

test("stores a key at one instant far from any boundary", async () => {
  const everyMs = Math.floor(Date.now() / 1_000.5);
  const { rows } = await client.query(
    `select at = now() as now from ${boundaryInstants({ table: "note", everyMs })}`,
  );
  expect(rows).toEqual([{ now: true }]);
});

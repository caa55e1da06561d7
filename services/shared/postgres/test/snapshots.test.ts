import { emptyDatabase, startTcpProxy } from "@scrip/testing";
import { Client } from "pg";
import { afterAll, expect, test } from "vitest";

import { createSnapshots } from "../src/held-snapshots.ts";
import { createDatabase, isUnavailable, readSnapshot, TooManySnapshots } from "../src/index.ts";

const database = await emptyDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const admin = new Client({ connectionString: database.url });
await admin.connect();
afterAll(() => admin.end());
await admin.query(
  `create schema place; create table place.place (name text); grant usage on schema place to public;
   grant select on place.place to public;
   do $$ begin
     create role scrip_place; create role scrip_place_tenant;
   exception when duplicate_object or unique_violation then null; end $$`,
);

const options = {
  url: database.url,
  schema: "place",
  role: "scrip_place",
  poolSize: 2,
  onError: () => {},
};
const db = createDatabase(options);
afterAll(() => db.close());

const SESSIONS = `from pg_stat_activity
  where datname = current_database() and application_name like '%bulk'`;
const countSessions = async (): Promise<number> =>
  (await admin.query(`select ${SESSIONS}`)).rows.length;
const ended = () => expect.poll(countSessions, { timeout: 2_000 }).toBe(0);

/** Reads names until the stream ends. */
async function drain(names: AsyncIterable<string>): Promise<void> {
  for await (const _ of names);
}

/** A held snapshot, and how its stream ends. */
async function hold(signal: AbortSignal, from = db) {
  const names = from.holdSnapshot("proj_1", signal)[Symbol.asyncIterator]();
  const { value: name = "" } = await names.next();
  return { name, end: drain({ [Symbol.asyncIterator]: () => names }) };
}

test("reads see the rows of the time when the snapshot was opened", async () => {
  const leaving = new AbortController();
  const { name, end } = await hold(leaving.signal);
  await admin.query("insert into place.place values ('later')");
  const count = (tx: Pick<typeof db, "query">) => tx.query("select from place");
  expect((await readSnapshot(db, name, count)).rows).toHaveLength(0);
  expect((await count(db)).rows).toHaveLength(1);
  leaving.abort();
  await end;
  await expect(readSnapshot(db, name, count)).rejects.toSatisfy(isUnavailable);
});

test("a snapshot ends with an error when its session does", async () => {
  const { end } = await hold(new AbortController().signal);
  await admin.query(`select pg_terminate_backend(pid) ${SESSIONS}`);
  await expect(end).rejects.toSatisfy(isUnavailable);
});

test("a snapshot ends with an error when the server no longer responds", async () => {
  const { hostname, port } = new URL(database.url);
  await using proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  const url = Object.assign(new URL(database.url), { hostname: "127.0.0.1", port: proxy.port });
  const behind = createDatabase({ ...options, url: url.href });
  const { end } = await hold(new AbortController().signal, behind);
  proxy.freeze();
  await expect(end).rejects.toSatisfy(isUnavailable);
  await behind.close();
});

test("a snapshot ends as soon as its caller leaves or the database is closed", async () => {
  const leaving = new AbortController();
  const { end } = await hold(leaving.signal);
  leaving.abort();
  await end;
  await ended();
  const other = createDatabase(options);
  const held = await hold(new AbortController().signal, other);
  await other.close();
  await held.end;
  await ended();
  expect(await Array.fromAsync(db.holdSnapshot("proj_1", AbortSignal.abort()))).toEqual([]);
});

test("a process holds three snapshots at once, and rejects more", async () => {
  const leaving = new AbortController();
  const held = await Promise.all([1, 2, 3].map(() => hold(leaving.signal)));
  await expect(hold(leaving.signal)).rejects.toThrow(TooManySnapshots);
  leaving.abort();
  await Promise.all(held.map(({ end }) => end));
  const next = new AbortController();
  const { end } = await hold(next.signal);
  next.abort();
  await end;
});

test("a snapshot ends with an error after its longest duration", async () => {
  const connect = (): Client => new Client({ connectionString: database.url });
  const { hold: holdFor } = createSnapshots(connect, { maxMs: 100 });
  await expect(drain(holdFor("proj_1", new AbortController().signal))).rejects.toSatisfy(
    isUnavailable,
  );
});

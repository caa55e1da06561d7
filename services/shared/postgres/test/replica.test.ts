import { emptyDatabase } from "@scrip/testing";
import { Client } from "pg";
import { afterAll, expect, test } from "vitest";

import { createDatabase, isRetryable, isUnavailable, readPage } from "../src/index.ts";

/** A database with one row, by the name of where it is. */
async function databaseWith(place: string) {
  const database = await emptyDatabase();
  afterAll(() => database[Symbol.asyncDispose]());
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    `create schema place; create table place.place (name text); grant usage on schema place to public;
     grant select, insert on place.place to public;
     create function place.fail(code text) returns text language plpgsql as
       $$ begin raise exception 'conflict' using errcode = code; end $$;
     do $$ begin
       create role scrip_place; create role scrip_place_tenant;
     exception when duplicate_object or unique_violation then null; end $$`,
  );
  await client.query("insert into place.place values ($1)", [place]);
  await client.end();
  return database.url;
}

const page = {
  projectId: "p",
  columns: "name",
  from: "from place",
  order: "name",
  values: [],
  limit: 10,
  offset: 0,
};

test("lists and exports are read from the replica, everything else from the primary", async () => {
  const primary = await databaseWith("primary");
  const replicaUrl = await databaseWith("replica");
  const options = {
    url: primary,
    schema: "place",
    role: "scrip_place",
    poolSize: 2,
    onError: () => {},
  };
  const db = createDatabase({ ...options, replicaUrl });
  afterAll(() => db.close());
  const exported: unknown[] = [];
  const statement = { text: "select name from place", values: [] };
  for await (const rows of db.bulk("p").readRows(statement)) exported.push(...rows);

  expect((await readPage(db, page)).rows).toEqual([{ name: "replica" }]);
  expect(exported).toEqual([{ name: "replica" }]);
  expect((await db.query("select name from place")).rows).toEqual([{ name: "primary" }]);
  const inTransaction = await db.transaction((tx) => readPage(tx, page));
  expect(inTransaction.rows).toEqual([{ name: "primary" }]);

  const alone = createDatabase(options);
  afterAll(() => alone.close());
  expect((await readPage(alone, page)).rows).toEqual([{ name: "primary" }]);
});

test("conflicts of the replica count as unavailable, those of the primary do not", async () => {
  const url = await databaseWith("one");
  const options = { url, schema: "place", role: "scrip_place", poolSize: 2, onError: () => {} };
  const db = createDatabase({ ...options, replicaUrl: url });
  const alone = createDatabase(options);
  afterAll(() => Promise.all([db.close(), alone.close()]));
  for (const [code, isConflict] of [
    ["40001", true],
    ["40P01", true],
    ["23505", false],
  ] as const) {
    const text = `select fail('${code}')`;
    const read = (from: typeof db) =>
      Array.fromAsync(from.bulk("p").readRows({ text, values: [] }));
    const copy = (from: typeof db) => Array.fromAsync(from.bulk("p").copyCsv({ text, values: [] }));
    const onReplica = [
      db.replica?.inProject("p").query(text),
      db.replica?.query(text),
      read(db),
      copy(db),
    ];
    for (const { error } of await outcomesOf(onReplica))
      expect(isUnavailable(error)).toBe(isConflict);
    const onPrimary = [db.query(text), db.inProject("p").query(text), read(alone), copy(alone)];
    for (const { error } of await outcomesOf(onPrimary)) {
      expect([isUnavailable(error), isRetryable(error)]).toEqual([false, isConflict]);
    }
  }
});

const outcomesOf = async (work: readonly (Promise<unknown> | undefined)[]) =>
  (await Promise.allSettled(work.map(async (each) => each))).map((one) => ({
    error: one.status === "rejected" ? (one.reason as unknown) : undefined,
  }));

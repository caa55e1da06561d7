import { emptyDatabase } from "@scrip/testing";
import { Client } from "pg";
import { afterAll, expect, test } from "vitest";

import { createDatabase, readPage } from "../src/index.ts";

/** A database with one row, by the name of where it is. */
async function databaseWith(place: string) {
  const database = await emptyDatabase();
  afterAll(() => database[Symbol.asyncDispose]());
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    `create schema place; create table place.place (name text); grant usage on schema place to public;
     grant select, insert on place.place to public;
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

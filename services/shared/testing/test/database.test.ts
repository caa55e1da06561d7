import { expect, inject, test } from "vitest";

import { asAdmin } from "../src/admin.ts";
import { dumpSchema } from "../src/dump-schema.ts";
import { emptyDatabase, testDatabase } from "../src/index.ts";

const SHOP = {
  schema: "shop",
  role: "scrip_shop",
  folder: `${import.meta.dirname}/fixture/shop`,
};

async function databases(): Promise<readonly string[]> {
  return asAdmin(inject("postgresUrl"), async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select datname as name from pg_database where starts_with(datname, $1)",
      [`test_${inject("testRun")}_`],
    );
    return rows.map(({ name }) => name);
  });
}

const nameOf = (database: { readonly url: string }): string =>
  new URL(database.url).pathname.slice(1);

test("migrates each test database, separates them, and drops them when disposed", async () => {
  const pair = await Promise.all([testDatabase(SHOP), testDatabase(SHOP)]);
  const [one, two] = pair;
  await one.query("insert into product (project_id, id, price) values ('p', 'a', 1)");
  expect((await one.query("select id from product")).rows).toEqual([{ id: "a" }]);
  expect((await two.query("select id from product")).rows).toEqual([]);
  expect((await two.query("select current_user as role")).rows).toEqual([{ role: "scrip_shop" }]);

  expect(await databases()).toEqual(expect.arrayContaining(pair.map(nameOf)));
  await Promise.all(pair.map((database) => database[Symbol.asyncDispose]()));
  const left = await databases();
  expect(pair.map(nameOf).filter((name) => left.includes(name))).toEqual([]);
});

test("creates an empty database", async () => {
  await using database = await emptyDatabase();
  const tables = await asAdmin(database.url, (client) =>
    client.query("select 1 from pg_class where relnamespace = 'public'::regnamespace"),
  );
  expect(tables.rows).toEqual([]);
});

test("dumps a schema as text", async () => {
  await using database = await testDatabase(SHOP);
  const dump = await asAdmin(database.url, (client) => dumpSchema(client, "shop"));
  await expect(dump).toMatchFileSnapshot("fixture/shop.sql");
});

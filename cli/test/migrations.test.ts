import { emptyDatabase, migratedDatabase } from "@scrip/testing";
import { Client } from "pg";
import { expect, test } from "vitest";

import { scrip, scripOnTerminal } from "./installation.ts";

type State = { readonly service: string; readonly state: string };

const statesOf = (json: readonly State[]): Record<string, string> =>
  Object.fromEntries(json.map(({ service, state }) => [service, state]));

test("lists pending migrations, applies them, and repeats without effect", async () => {
  await using database = await emptyDatabase();
  const env = { DATABASE_URL: database.url };
  const before = await scrip(env, "migrations", "--json");
  expect(new Set(Object.values(statesOf(before.json)))).toEqual(new Set(["pending"]));

  const migrated = await scripOnTerminal(env, "migrate");
  const pending = before.json.length;
  expect(migrated.drawn).toContain(`${pending}/${pending}`);
  expect(migrated).toMatchObject({
    exitCode: 0,
    out: expect.stringContaining("voucher: applied 0001_voucher.sql"),
  });
  const after = await scrip(env, "migrations", "--json");
  expect(statesOf(after.json)).toEqual({
    gateway: "applied",
    campaign: "applied",
    export: "applied",
    loyalty: "applied",
    validation: "applied",
    voucher: "applied",
    events: "applied",
  });
  expect((await scrip(env, "migrate")).out).toBe("nothing to do: all migrations are applied\n");
});

test("migrates each schema in the database that is named for it", async () => {
  await using shared = await emptyDatabase();
  await using ofVoucher = await emptyDatabase();
  const env = { DATABASE_URL: shared.url, SCRIP_VOUCHER_DATABASE_URL: ofVoucher.url };
  expect((await scrip(env, "migrate")).exitCode).toBe(0);
  const { json } = await scrip(env, "migrations", "--json");
  expect(new Set(Object.values(statesOf(json)))).toEqual(new Set(["applied"]));
  expect(await schemasOf(ofVoucher.url)).toEqual(["voucher"]);
  expect(await schemasOf(shared.url)).not.toContain("voucher");
});

test("lets the event bus read the outboxes of services", async () => {
  await using database = await emptyDatabase();
  await scrip({ DATABASE_URL: database.url }, "migrate");
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ schema: string; readable: boolean }>(
    `select relnamespace::regnamespace::text as schema, has_table_privilege('scrip_events', oid, 'select') as readable
       from pg_class where relname = 'outbox'`,
  );
  await client.end();
  expect(rows.filter(({ readable }) => !readable)).toEqual([]);
  expect(rows.map(({ schema }) => schema)).toContain("voucher");
});

test("reports migrations that this version cannot work with, and accepts others of a later one", async () => {
  await using database = await migratedDatabase();
  const env = { DATABASE_URL: database.url };
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query("update loyalty.migration set sha256 = 'other' where name like '0001%'");
  await client.query("insert into campaign.migration values ('9999_later.sql', 'x', now())");
  await client.query("insert into voucher.migration values ('9999_later.sql', 'x', now(), '9999')");
  await client.end();

  expect(await scrip(env, "migrations")).toMatchObject({
    exitCode: 1,
    errors:
      "scrip: the migrations of the database do not match this version: " +
      "loyalty/0001_loyalty.sql (changed), voucher/9999_later.sql (unknown)\n",
  });
  expect(await scrip(env, "migrate")).toMatchObject({ exitCode: 1 });
});

test("explains how to configure the database when none is configured", async () => {
  const env = { SCRIP_DATA_DIR: "/nonexistent" };
  expect(await scrip(env, "migrations")).toMatchObject({
    exitCode: 2,
    errors: expect.stringContaining("set DATABASE_URL"),
  });
});

async function schemasOf(url: string): Promise<readonly string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "select nspname as name from pg_namespace where nspname !~ '^(pg_|information_schema|public)' order by 1",
  );
  await client.end();
  return rows.map(({ name }) => name);
}

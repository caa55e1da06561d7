import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { emptyDatabase } from "@scrip/testing";
import { Client } from "pg";
import { describe, expect, test } from "vitest";

import {
  createDatabase,
  migrate,
  MigrationError,
  sqlState,
  type TableReader,
} from "../src/index.ts";

const first = "create table sale (id text primary key);";
const second = "alter table sale add column amount bigint;";
const INSUFFICIENT_PRIVILEGE = "42501";

/** An empty database and a folder of migrations, both removed at the end of the test. */
async function given(files: Readonly<Record<string, string>>) {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await emptyDatabase());
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-migrations-"));
  stack.defer(() => rm(folder, { recursive: true }));
  const write = (name: string, sql: string) => writeFile(path.join(folder, name), sql);
  for (const [name, sql] of Object.entries(files)) await write(name, sql);
  const owned = stack.move();
  return {
    url: database.url,
    write,
    remove: (name: string) => rm(path.join(folder, name)),
    migrate: (schema = "till", reader?: TableReader) =>
      migrate({
        url: database.url,
        schema,
        role: `scrip_${schema}`,
        folder,
        ...(reader !== undefined && { reader }),
      }),
    connect: (role = "scrip_till") => {
      const options = { url: database.url, schema: "till", role, poolSize: 1 };
      const db = createDatabase({ ...options, onError: () => {} });
      return { query: (text: string) => db.query(text), [Symbol.asyncDispose]: () => db.close() };
    },
    columns: async (schema = "till") => {
      const { rows } = await query(
        database.url,
        `select table_name || '.' || column_name as name from information_schema.columns
          where table_schema = $1 and table_name not in ('migration', 'write_check') order by 1`,
        [schema],
      );
      return rows.map(({ name }) => name);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function query(url: string, text: string, values: unknown[] = []) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query<{ name: string }>(text, values);
  } finally {
    await client.end();
  }
}

test("applies files once, in the order of their numbers", async () => {
  await using at = await given({ "0002_amount.sql": second, "0001_sale.sql": first });
  expect(await at.migrate()).toEqual(["0001_sale.sql", "0002_amount.sql"]);
  expect(await at.migrate()).toEqual([]);
  await at.write("0003_note.sql", "alter table sale add column note text;");
  expect(await at.migrate()).toEqual(["0003_note.sql"]);
  expect(await at.columns()).toEqual(["sale.amount", "sale.id", "sale.note"]);
});

test("applies each file once when ten processes start concurrently", async () => {
  await using at = await given({ "0001_sale.sql": first, "0002_amount.sql": second });
  const applied = await Promise.all(Array.from({ length: 10 }, () => at.migrate()));
  expect(applied.flat().toSorted()).toEqual(["0001_sale.sql", "0002_amount.sql"]);
});

test("shares roles of the cluster between services that start concurrently in several databases", async () => {
  const files = { "0001_sale.sql": first };
  await using one = await given(files);
  await using two = await given(files);
  const schemas = ["shelf", "stock", "store"];
  const all = [one, two].flatMap((at) => schemas.map((schema) => at.migrate(schema)));
  expect(await Promise.all(all)).toEqual(all.map(() => ["0001_sale.sql"]));
});

test("rolls back a file that fails, and names it", async () => {
  await using at = await given({
    "0001_sale.sql": first,
    "0002_broken.sql": `${second} select 1 / 0;`,
  });
  await expect(at.migrate()).rejects.toThrow(
    /Migration 0002_broken.sql of the schema till failed and was rolled back: division by zero/,
  );
  expect(await at.columns()).toEqual(["sale.id"]);
  await at.write("0002_broken.sql", second);
  expect(await at.migrate()).toEqual(["0002_broken.sql"]);
});

test("keeps the access of running processes to a replaced table while later migrations are applied", async () => {
  await using at = await given({ "0001_sale.sql": first });
  const reader = { role: `reader_${Math.random().toString(36).slice(2, 8)}`, tables: ["sale"] };
  await query(at.url, `create role ${reader.role} nologin`);
  try {
    await at.migrate("till", reader);
    await using service = at.connect();
    await using other = at.connect(reader.role);
    await at.write("0002_replaced.sql", `drop table sale; ${first}`);
    await at.write("0003_broken.sql", "select 1 / 0;");
    await expect(at.migrate("till", reader)).rejects.toThrow("0003_broken.sql");
    await service.query("insert into sale (id) values ('a')");
    expect((await other.query("select id from sale")).rows).toEqual([{ id: "a" }]);
  } finally {
    await query(at.url, `drop owned by ${reader.role}; drop role ${reader.role}`);
  }
});

test.each([
  ["a plain table", first],
  [
    "a partitioned table",
    `create table sale (id text primary key) partition by hash (id);
     create table sale_0 partition of sale for values with (modulus 1, remainder 0);`,
  ],
])("lets the service only add rows to %s that is append-only", async (_, table) => {
  await using at = await given({
    "0001_sale.sql": `${table} comment on table sale is 'append-only';`,
  });
  await at.migrate();
  await using service = at.connect();
  await service.query("insert into sale (id) values ('a')");
  for (const change of ["update sale set id = 'b'", "delete from sale"]) {
    const error = await service.query(change).catch((thrown: unknown) => thrown);
    expect(sqlState(error)).toBe(INSUFFICIENT_PRIVILEGE);
  }
});

test("accepts a reader of tables that later migrations create", async () => {
  await using at = await given({ "0001_sale.sql": first });
  const reader = { role: "scrip_till", tables: ["receipt"] };
  expect(await at.migrate("till", reader)).toEqual(["0001_sale.sql"]);
});

test("accepts other line endings in an applied file, and rejects other changes", async () => {
  await using at = await given({ "0001_sale.sql": `-- Sales.\n${first}\n` });
  await at.migrate();
  await at.write("0001_sale.sql", `-- Sales.\r\n${first}\r\n`);
  expect(await at.migrate()).toEqual([]);
  await at.write("0001_sale.sql", `-- All sales.\n${first}\n`);
  await expect(at.migrate()).rejects.toThrow(/0001_sale.sql .* was changed after it was applied/);
});

test("works on a schema to which a later release has added", async () => {
  await using at = await given({ "0001_sale.sql": first, "0002_amount.sql": second });
  await at.migrate();
  await at.remove("0002_amount.sql");
  expect(await at.migrate()).toEqual([]);
  await using db = at.connect();
  await db.query("insert into sale (id) values ('a')");
  expect((await db.query("select * from sale")).rows).toEqual([{ id: "a", amount: null }]);
  await at.write("0001_sale.sql", `${first} -- Other.`);
  await expect(at.migrate()).rejects.toThrow(/0001_sale.sql .* was changed after it was applied/);
});

test("rejects a schema from which a later release has removed what this program needs", async () => {
  const files = {
    "0001_sale.sql": first,
    "0002_amount.sql": second,
    "0003_note.sql": "alter table sale add column note text;",
    "0004_no_amount.sql": "-- contract 0003\nalter table sale drop column amount;",
  };
  await using at = await given(files);
  await at.migrate();
  expect(await at.migrate()).toEqual([]);
  await at.remove("0004_no_amount.sql");
  expect(await at.migrate()).toEqual([]);
  await at.remove("0003_note.sql");
  await expect(at.migrate()).rejects.toThrow(
    "The schema till is too new for this program: 0004_no_amount.sql of a later release needs programs that have " +
      "migration 0003, and the last one of this program is 0002_amount.sql. Run a newer release.",
  );
});

test.each([
  "-- contract",
  "-- contract 0003",
  "-- contract 2",
  "--contract 0002",
  "-- Contract: 2",
])("rejects a mark that names no earlier migration: %s", async (line) => {
  await using at = await given({ "0001_sale.sql": first, "0002_amount.sql": `${line}\n${second}` });
  await expect(at.migrate()).rejects.toThrow(/0002_amount.sql begins with .* at most 0002/);
  expect(await at.columns()).toEqual([]);
});

test("takes over the migrations of a release that stored no marks, also while the schema is read", async () => {
  await using at = await given({ "0001_sale.sql": first });
  await at.migrate();
  await query(at.url, "alter table till.migration drop column contract");
  await at.write("0002_amount.sql", `-- contract 0002\n${second}`);
  expect(await at.migrate()).toEqual(["0002_amount.sql"]);
  const reader = new Client({ connectionString: at.url });
  await reader.connect();
  await reader.query("begin; lock table till.migration in access share mode");
  expect(await at.migrate()).toEqual([]);
  await reader.end();
});

test("rejects a missing file that was applied", async () => {
  await using at = await given({ "0001_sale.sql": first, "0002_amount.sql": second });
  await at.migrate();
  await at.remove("0001_sale.sql");
  await expect(at.migrate()).rejects.toThrow(/0001_sale.sql .* was applied and is missing/);
});

test("rejects a new file that precedes an applied one", async () => {
  await using at = await given({ "0002_sale.sql": first });
  await at.migrate();
  await at.write("0001_late.sql", "create table late (id text);");
  await expect(at.migrate()).rejects.toThrow(/0001_late.sql comes before 0002_sale.sql/);
});

test.each([
  [{ "0001_sale.sql": first, "0001_other.sql": second }, /have the same number/],
  [{ "1_sale.sql": first }, /is no name of a migration/],
])("rejects a folder with gaps or duplicate numbers", async (files, message) => {
  await using at = await given(files);
  await expect(at.migrate()).rejects.toThrow(MigrationError);
  await expect(at.migrate()).rejects.toThrow(message);
});

test("grants the role the tables of its schema, old and new, and nothing else", async () => {
  await using at = await given({
    "0001_sale.sql": "create table sale (seq bigserial, id text primary key);",
  });
  await at.migrate();
  await at.migrate("shelf");
  await at.write("0002_receipt.sql", "create table receipt (id text primary key);");
  await at.migrate();

  const options = { url: at.url, schema: "till", role: "scrip_till", poolSize: 1 };
  const db = createDatabase({ ...options, onError: () => {} });
  for (const table of ["sale", "receipt"]) {
    await db.query(`insert into ${table} (id) values ('a')`);
    await db.query(`update ${table} set id = 'b'`);
    expect((await db.query(`select id from ${table}`)).rows).toEqual([{ id: "b" }]);
    await db.query(`delete from ${table}`);
  }
  for (const forbidden of [
    "select * from shelf.sale",
    "create table till.mine (id text)",
    "create table public.mine (id text)",
    "create schema mine",
    "truncate sale",
    "drop table sale",
    "update migration set sha256 = ''",
  ]) {
    const error = await db.query(forbidden).catch((thrown: unknown) => thrown);
    expect([forbidden, sqlState(error)]).toEqual([forbidden, INSUFFICIENT_PRIVILEGE]);
  }
  await db.close();
});

test("needs no administrator where the user may create roles, and explains what to do otherwise", async () => {
  await using at = await given({ "0001_sale.sql": first });
  const suffix = Math.random().toString(36).slice(2, 8);
  const owner = `owner_${suffix}`;
  const clerk = `clerk_${suffix}`;
  const role = `scrip_new_${suffix}`;
  await query(at.url, `create role ${owner} login createrole password 'x'`);
  await query(at.url, `create role ${clerk} login password 'x'`);
  const name = new URL(at.url).pathname.slice(1);
  await query(at.url, `grant create on database ${name} to ${owner}, ${clerk}`);
  const urlOf = (user: string) => Object.assign(new URL(at.url), { username: user, password: "x" });
  const run = (user: string, schema: string) =>
    migrate({
      url: urlOf(user).href,
      schema,
      role,
      folder: path.join(import.meta.dirname, "fixture/till"),
    });
  try {
    await expect(run(clerk, "early")).rejects.toThrow(/As an administrator, run "create role/);
    expect(await run(owner, "till")).toEqual(["0001_till.sql"]);
    const options = { url: urlOf(owner).href, schema: "till", role, poolSize: 1 };
    const db = createDatabase({ ...options, onError: () => {} });
    expect((await db.query("select current_user as role")).rows).toEqual([{ role }]);
    await db.close();
  } finally {
    for (const user of [owner, clerk, role, `${role}_tenant`]) {
      await query(at.url, `drop owned by ${user} cascade`).catch(() => {});
      await query(at.url, `drop role if exists ${user}`);
    }
  }
});

describe("a migration without a transaction", () => {
  const sale = "create table sale (id text primary key, amount bigint);";
  const index = (columns: string) =>
    `-- without a transaction
     drop index concurrently if exists sale_amount;
     create index concurrently sale_amount on sale (${columns});
`;

  test("creates indexes concurrently, once when processes start concurrently", async () => {
    await using at = await given({ "0001_sale.sql": sale, "0002_index.sql": index("amount") });
    const applied = await Promise.all(Array.from({ length: 10 }, () => at.migrate()));
    expect(applied.flat().toSorted()).toEqual(["0001_sale.sql", "0002_index.sql"]);
    const { rows } = await query(
      at.url,
      "select indexrelid::regclass::text as name from pg_index where indisvalid and indrelid = 'till.sale'::regclass",
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual(["till.sale_amount", "till.sale_pkey"]);
  });

  test("begins again after a failure", async () => {
    await using at = await given({ "0001_sale.sql": sale, "0002_index.sql": index("nothing") });
    await expect(at.migrate()).rejects.toThrow(
      /0002_index.sql of the schema till failed and may be applied in part: column "nothing"/,
    );
    await at.write("0002_index.sql", index("amount"));
    expect(await at.migrate()).toEqual(["0002_index.sql"]);
  });

  test("builds only the indexes that an interruption left missing or invalid", async () => {
    const indexes = `-- without a transaction
     create index concurrently if not exists sale_amount on sale (amount);
     create unique index concurrently if not exists sale_unique on sale (amount);
`;
    await using at = await given({ "0001_sale.sql": sale });
    await at.migrate();
    await query(at.url, "insert into till.sale values ('a', 1), ('b', 1)");
    await at.write("0002_indexes.sql", indexes);
    await expect(at.migrate()).rejects.toThrow("could not create unique index");
    const state = () =>
      query(
        at.url,
        `select c.oid, c.relname as name, i.indisvalid as valid
           from pg_index i join pg_class c on c.oid = i.indexrelid
          where i.indrelid = 'till.sale'::regclass and not i.indisprimary
          order by c.relname`,
      );
    const interrupted = (await state()).rows;
    expect(interrupted).toMatchObject([
      { name: "sale_amount", valid: true },
      { name: "sale_unique", valid: false },
    ]);
    await query(at.url, "delete from till.sale where id = 'b'");
    expect(await at.migrate()).toEqual(["0002_indexes.sql"]);
    expect((await state()).rows).toMatchObject([
      interrupted[0],
      { name: "sale_unique", valid: true },
    ]);
  });
});

import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { readMigrations } from "@scrip/postgres";
import { contractions, emptyDatabase, readTerms } from "@scrip/testing";
import { Client } from "pg";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";

const ROOT = path.join(import.meta.dirname, "../..");

/**
 * The last migrations of the release in which marks begin: programs of earlier releases start on no newer schema
 * anyway.
 */
const LAST_WITHOUT_MARKS: Readonly<Record<string, string>> = {
  gateway: "0011",
  "services/campaign": "0018",
  "services/export": "0013",
  "services/loyalty": "0033",
  "services/shared/events": "0004",
  "services/validation": "0019",
  "services/voucher": "0029",
};

/** A migration runs once, in a transaction whose lock timeout the runner sets; marks protect older programs. */
const UNUSED_RULES = [
  "adding-required-field",
  "ban-drop-column",
  "ban-drop-not-null",
  "ban-drop-table",
  "renaming-column",
  "renaming-table",
  "prefer-robust-stmts",
  "require-concurrent-index-creation",
  "require-timeout-settings",
  "prefer-bigint-over-int",
  "prefer-bigint-over-smallint",
];

/** What squawk finds in migrations: statements that lock or rewrite a table that may be large. */
async function lockingStatements(
  files: readonly string[],
  { inTransaction = true } = {},
): Promise<readonly string[]> {
  if (files.length === 0) return [];
  const program = path.join(ROOT, "node_modules/.bin/squawk");
  const options = ["--pg-version=17", "--reporter=gcc"];
  if (inTransaction) options.push("--assume-in-transaction");
  const rules = `--exclude=${UNUSED_RULES.join(",")}`;
  return new Promise((resolve, reject) => {
    execFile(program, [...options, rules, ...files], (error, stdout) => {
      // It ends with 1 when it found something.
      if (error !== null && stdout === "") reject(error);
      else resolve(stdout.split("\n").filter((line) => line !== ""));
    });
  });
}

async function foldersWithMigrations(): Promise<readonly string[]> {
  const folders: string[] = [];
  for (const parent of [".", "services", "services/shared"]) {
    for (const { name } of await readdir(path.join(ROOT, parent), { withFileTypes: true })) {
      const folder = path.join(ROOT, parent, name);
      const files = await readdir(path.join(folder, "migrations")).catch(() => []);
      if (files.length > 0) folders.push(path.join(parent, name));
    }
  }
  return folders.toSorted();
}

/** An empty database, in whose schema `part` statements run. */
async function openSchema() {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await emptyDatabase());
  const client = new Client({ connectionString: url });
  await client.connect();
  stack.defer(() => client.end());
  // Some migrations ask when the earlier ones were applied.
  await client.query(
    `create schema part;
     set search_path to part;
     create table migration (name text primary key, applied_at timestamptz not null)`,
  );
  const owned = stack.move();
  return {
    run: (sql: string) => client.query(sql),
    terms: () => readTerms(client, "part"),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("all migrations are found", async () => {
  expect(await foldersWithMigrations()).toEqual(Object.keys(LAST_WITHOUT_MARKS));
});

/**
 * A database keeps the hash of each migration that it has, and rejects a file that differs, even in a comment. Add the lines of new
 * migrations: `sha256sum services/export/migrations/0028_job_pauses.sql`. Never change a line that is on the main branch.
 */
test("no migration has changed since it was added", async () => {
  const listed = await readFile(path.join(import.meta.dirname, "migrations.sha256"), "utf8");
  const found: string[] = [];
  for (const folder of await foldersWithMigrations()) {
    const migrations = await readMigrations(path.join(ROOT, folder, "migrations"));
    found.push(...migrations.map(({ name, sha256 }) => `${sha256}  ${folder}/migrations/${name}`));
  }
  expect(found).toEqual(listed.trimEnd().split("\n"));
});

test("migrations lock and rewrite no table that may be large", async () => {
  const newer = await Promise.all(
    Object.entries(LAST_WITHOUT_MARKS).map(async ([folder, last]) => {
      const migrations = await readMigrations(path.join(ROOT, folder, "migrations"));
      return migrations
        .filter(({ name }) => name.slice(0, 4) > last)
        .map(({ name, statements }) => ({
          file: path.join(ROOT, folder, "migrations", name),
          inTransaction: statements === undefined,
        }));
    }),
  );
  for (const inTransaction of [true, false]) {
    const files = newer.flat().filter((migration) => migration.inTransaction === inTransaction);
    const paths = files.map(({ file }) => file);
    // Add a constraint as `not valid`, and validate it in a later migration.
    expect(await lockingStatements(paths, { inTransaction })).toEqual([]);
  }
});

test("statements that lock or rewrite a table are found", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-squawk-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, "0001_locks.sql");
  await writeFile(
    file,
    `alter table voucher add constraint paid check (amount > 0);
     alter table voucher alter column amount type text;`,
  );
  const found = await lockingStatements([file]);
  expect(found).toEqual([
    expect.stringContaining("constraint-missing-not-valid"),
    expect.stringContaining("changing-column-type"),
  ]);
});

test.each(Object.entries(LAST_WITHOUT_MARKS))(
  "migrations of %s that take something from older programs have a mark",
  async (folder, last) => {
    await using schema = await openSchema();
    const unmarked: (readonly [string, readonly string[]])[] = [];
    for (const { name, sql, statements = [sql], contract } of await readMigrations(
      path.join(ROOT, folder, "migrations"),
    )) {
      const isChecked = name.slice(0, 4) > last && contract === undefined;
      const before = isChecked ? await schema.terms() : undefined;
      for (const statement of statements) await schema.run(statement);
      if (before === undefined) continue;
      const found = contractions(before, await schema.terms());
      if (found.length > 0) unmarked.push([name, found]);
    }
    // If older programs work nevertheless, the mark says since which migration: `-- contract 0001`.
    expect(unmarked).toEqual([]);
  },
);

const TABLES = `
  create type state as enum ('open', 'paid');
  create sequence receipt_seq;
  create table shop (id text primary key);
  create table sale (
    id text primary key, amount bigint not null default 0, shop text, state state, voided boolean,
    constraint sale_amount check (amount >= 0));
  create unique index sale_receipt on sale (shop, amount) where voided;
  create index sale_shop on sale (shop);
  create table entry (id text, at timestamptz not null, primary key (id, at)) partition by range (at);
  create table entry_default partition of entry default;
  create function tax(amount bigint) returns bigint language sql as 'select amount / 5';`;

describe("contractions of a schema", async () => {
  const schema = await openSchema();
  afterAll(() => schema[Symbol.asyncDispose]());
  await schema.run(TABLES);
  const before = await schema.terms();

  async function contractionsOf(sql: string): Promise<readonly string[]> {
    await schema.run("begin");
    try {
      await schema.run(sql);
      return contractions(before, await schema.terms());
    } finally {
      await schema.run("rollback");
    }
  }

  test.each([
    [
      "drop table shop",
      [
        "no longer: shop",
        "no longer: shop.id",
        "no longer: shop.id is text",
        "no longer: unique shop (id)",
      ],
    ],
    [
      "alter table sale drop column state",
      ["no longer: sale.state", "no longer: sale.state is state"],
    ],
    [
      "alter table sale rename column state to status",
      ["no longer: sale.state", "no longer: sale.state is state"],
    ],
    ["alter table sale alter column state type text", ["no longer: sale.state is state"]],
    [
      "alter table sale alter column shop set not null",
      ["new: sale.shop must be written", "new: sale.shop must not be null"],
    ],
    [
      "alter table sale alter column shop set default '', alter column shop set not null",
      ["new: sale.shop must not be null"],
    ],
    ["alter table sale alter column amount drop default", ["new: sale.amount must be written"]],
    ["alter table sale add column till text not null", ["new: sale.till must be written"]],
    [
      "alter table sale add check (amount < 100) not valid",
      ["new: sale CHECK (amount < 100) NOT VALID"],
    ],
    [
      "alter table sale add foreign key (shop) references shop",
      ["new: sale FOREIGN KEY (shop) REFERENCES shop(id)"],
    ],
    ["create unique index on sale (shop)", ["new: unique sale (shop)"]],
    ["drop index sale_receipt", ["no longer: unique sale (shop, amount) where voided"]],
    ["drop function tax", ["no longer: function tax(amount bigint) returns bigint"]],
    ["drop sequence receipt_seq", ["no longer: sequence receipt_seq"]],
    [
      "do $$ begin alter table shop rename to store; end $$",
      expect.arrayContaining(["no longer: shop"]),
    ],
  ])("are found in: %s", async (sql, expected) => {
    expect(await contractionsOf(sql)).toEqual(expected);
  });

  test.each([
    "create table till (id text primary key, shop text not null references shop)",
    "alter table sale add column note text, add column paid bigint not null default 0 check (paid >= 0)",
    "alter table sale add column till text, add unique (till, shop)",
    "alter table sale alter column amount drop not null, drop constraint sale_amount",
    "alter type state add value 'void'",
    "drop index sale_shop; create index on sale (amount)",
    "drop table entry_default; create table entry_rest partition of entry default",
    "alter table shop rename to shop_before; create table shop (id text primary key); drop table shop_before",
  ])("are not found in: %s", async (sql) => {
    expect(await contractionsOf(sql)).toEqual([]);
  });
});

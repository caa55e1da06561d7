import { readdirSync } from "node:fs";
import path from "node:path";

import { migrate } from "@scrip/postgres";
import { emptyDatabase } from "@scrip/testing";
import { Client } from "pg";
import { afterAll, describe, expect, test } from "vitest";

import { sourceFiles } from "../docs/repository.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const SERVICES = [
  "gateway",
  ...readdirSync(path.join(ROOT, "services"))
    .filter((name) => !["shared", "decisions", "README.md"].includes(name))
    .map((name) => `services/${name}`),
];

const { url, ...database } = await emptyDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const client = new Client({ connectionString: url });
await client.connect();
afterAll(() => client.end());

for (const folder of SERVICES) {
  const schema = path.basename(folder);
  const migrations = path.join(ROOT, folder, "migrations");
  await migrate({ url, schema, role: `scrip_${schema}`, folder: migrations });
}

type Relation = {
  readonly schema: string;
  readonly name: string;
  readonly kind: "r" | "p" | "v";
  readonly isPartition: boolean;
};

const { rows: relations } = await client.query<Relation>(
  `select n.nspname as schema, c.relname as name, c.relkind as kind, c.relispartition as "isPartition"
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any($1) and c.relkind in ('r', 'p', 'v')
      and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'project_id')
    order by 1, 2`,
  [SERVICES.map((folder) => path.basename(folder))],
);
const tables = relations.filter(({ kind, isPartition }) => kind !== "v" && !isPartition);
const partitions = relations.filter(({ isPartition }) => isPartition);
const views = relations.filter(({ kind }) => kind === "v");

const PROJECTS = ["proj_a", "proj_b"];

/** Values by the category of their type; rows need not make sense, because only the project of a row counts here. */
const VALUES: Readonly<Record<string, string>> = {
  N: "1",
  B: "false",
  D: "now()",
  T: "'1 day'",
  A: "'{}'",
};
const OTHER_VALUES: Readonly<Record<string, string>> = {
  jsonb: "'{}'",
  json: "'{}'",
  uuid: "gen_random_uuid()",
};

async function insertRows({ schema, name }: Relation): Promise<void> {
  const { rows: checks } = await client.query<{ name: string }>(
    "select conname as name from pg_constraint where conrelid = $1::regclass and contype in ('c', 'f') and conislocal",
    [`${schema}.${name}`],
  );
  for (const check of checks)
    await client.query(`alter table ${schema}.${name} drop constraint "${check.name}" cascade`);
  const { rows: columns } = await client.query<{ name: string; type: string; category: string }>(
    `select a.attname as name, t.typname as type, t.typcategory as category
       from pg_attribute a
       join pg_type t on t.oid = a.atttypid
      where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attname <> 'project_id'
        and a.attnotnull and not a.atthasdef and a.attidentity = '' and a.attgenerated = ''`,
    [`${schema}.${name}`],
  );
  const names = ["project_id", ...columns.map((column) => column.name)];
  for (const project of PROJECTS) {
    const values = columns.map(({ type, category }) =>
      category === "S" || type === "bytea"
        ? `'${project}'`
        : (OTHER_VALUES[type] ?? VALUES[category]),
    );
    await client.query(
      `insert into ${schema}.${name} (${names.map((one) => `"${one}"`).join(", ")}) values (${[`'${project}'`, ...values].join(", ")})`,
    );
  }
}

await client.query("set session_replication_role = replica");
for (const table of tables) await insertRows(table);
await client.query("reset session_replication_role");

/** The projects whose rows the tenant role of the service sees, or the code of the error. */
async function seenProjects({ schema, name }: Relation, setting: string) {
  await client.query(`begin; set local role scrip_${schema}_tenant; ${setting}`);
  try {
    const { rows } = await client.query<{ project_id: string }>(
      `select project_id from ${schema}.${name}`,
    );
    return rows.map((row) => row.project_id);
  } catch (error) {
    return (error as { readonly code?: string }).code;
  } finally {
    await client.query("rollback");
  }
}

test("all tables and views with a project are found", () => {
  expect(tables.length).toBeGreaterThan(60);
  expect(partitions.length).toBeGreaterThan(5);
  expect(views.length).toBeGreaterThan(1);
});

describe("the tenant role of a service", () => {
  test.each(tables)("sees only the rows of its project in $schema.$name", async (table) => {
    expect(await seenProjects(table, "")).toEqual([]);
    expect(await seenProjects(table, "set local scrip.project = 'proj_c'")).toEqual([]);
    expect(await seenProjects(table, "set local scrip.project = 'proj_a'")).toEqual(["proj_a"]);
  });

  test.each(views)("sees only the rows of its project in the view $schema.$name", async (view) => {
    expect(await seenProjects(view, "")).toEqual([]);
    expect(await seenProjects(view, "set local scrip.project = 'proj_a'")).toEqual(["proj_a"]);
  });

  test.each(partitions)("has no access to the partition $schema.$name", async (partition) => {
    expect(await seenProjects(partition, "set local scrip.project = 'proj_a'")).toBe("42501");
  });

  test("has no access to tables without a project, and may only read", async () => {
    const { rows } = await client.query(
      `select grants.table_schema, grants.table_name, grants.privilege_type
         from information_schema.role_table_grants grants
        where grants.grantee like 'scrip\\_%\\_tenant'
          and (grants.privilege_type <> 'SELECT'
               or not exists (select from information_schema.columns own
                               where own.table_schema = grants.table_schema
                                 and own.table_name = grants.table_name and own.column_name = 'project_id'))`,
    );
    expect(rows).toEqual([]);
  });

  test("may not be used by the role of the service, which would then be limited as well", async () => {
    const { rows } = await client.query(
      `select rolname from pg_roles
        where rolname = any($1) and pg_has_role(rolname, rolname || '_tenant', 'member')`,
      [SERVICES.map((folder) => `scrip_${path.basename(folder)}`)],
    );
    expect(rows).toEqual([]);
  });
});

test("statements whose conditions are composed at run time are run by the tenant role", () => {
  const composing = sourceFiles()
    .filter(({ path: file }) => /^(?:gateway|services\/\w+)\/src\/store\/[\w-]+\.ts$/.test(file))
    .flatMap(({ path: file, text }) =>
      text
        .split(/^(?=(?:export )?(?:async )?function )/m)
        .filter((part) => part.includes('.join(" and ")'))
        .map((part) => ({ where: `${file} ${part.slice(0, part.indexOf("("))}`, part })),
    );
  expect(composing.length).toBeGreaterThan(20);
  const unlimited = composing.filter(
    ({ part }) => !/\.inProject\(|\breadPage<|\blistReads\(/.test(part),
  );
  expect(unlimited.map(({ where }) => where)).toEqual([]);
});

import path from "node:path";

import { emptyDatabase } from "@scrip/testing";
import { Client } from "pg";
import { afterAll, describe, expect, test } from "vitest";

import {
  createDatabase,
  maintainPartitions,
  migrate,
  type ProjectQueryable,
} from "../src/index.ts";

const SERVICE = {
  schema: "till",
  role: "scrip_test_tenants",
  folder: path.join(import.meta.dirname, "fixture/tenants"),
};
const TENANT = "scrip_test_tenants_tenant";

const { url, ...database } = await emptyDatabase();
afterAll(() => database[Symbol.asyncDispose]());
await migrate({ url, ...SERVICE });

const db = createDatabase({ ...SERVICE, url, poolSize: 1, onError: () => {} });
afterAll(() => db.close());
await db.query(
  "insert into sale (project_id, id, amount) values ('p1', 'a', 1), ('p1', 'b', 2), ('p2', 'a', 3)",
);
const HOUR_MS = 3_600_000;
await maintainPartitions({
  url,
  schema: SERVICE.schema,
  tables: [{ table: "visit", column: "at", everyMs: HOUR_MS, keepMs: HOUR_MS }],
});
await db.query("insert into visit (project_id, at) values ('p1', now()), ('p2', now())");

/** A statement whose author forgot the project. */
const SALES = "select project_id, id from sale order by project_id, id";
const OF_P1 = [
  { project_id: "p1", id: "a" },
  { project_id: "p1", id: "b" },
];

const STATE =
  "select current_user::text as role, current_setting('scrip.project', true) as project";

async function query(text: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

describe.each<[string, (work: (on: ProjectQueryable) => Promise<void>) => Promise<void>]>([
  ["alone", (work) => work(db)],
  ["in a transaction", (work) => db.transaction(work)],
])("a statement of a project, %s", (_, on) => {
  test("sees the rows of its project only, although it has no condition", () =>
    on(async (queryable) => {
      expect((await queryable.inProject("p1").query(SALES)).rows).toEqual(OF_P1);
      expect((await queryable.inProject("p3").query(SALES)).rows).toEqual([]);
    }));

  test("sees no rows of another project, although it asks for them", () =>
    on(async (queryable) => {
      const { rows } = await queryable
        .inProject("p1")
        .query("select * from sale where project_id = $1", ["p2"]);
      expect(rows).toEqual([]);
    }));

  test("sees the rows of a partition that was created later", () =>
    on(async (queryable) => {
      const { rows } = await queryable.inProject("p2").query("select project_id from visit");
      expect(rows).toEqual([{ project_id: "p2" }]);
    }));

  test("leaves the role of the service, which sees all rows, to the next statement", () =>
    on(async (queryable) => {
      await queryable.inProject("p1").query({
        name: "sales",
        planning: "indexLookups",
        text: SALES,
        values: [],
      });
      expect((await queryable.query(STATE)).rows[0]).toMatchObject({ role: SERVICE.role });
      expect((await queryable.query<{ project: string }>(STATE)).rows[0]?.project || "").toBe("");
      expect((await queryable.query(SALES)).rows).toHaveLength(3);
    }));

  test("rejects ids that would need quotes", () =>
    on(async (queryable) => {
      for (const id of ["", "p1'; reset role; --", "p 1", "p\\1"])
        expect(() => queryable.inProject(id)).toThrow("is not the id of a project");
    }));
});

test("a statement that fails leaves neither role nor setting to the connection", async () => {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await expect(db.inProject("p1").query("select 1 / 0")).rejects.toMatchObject({ code: "22012" });
    expect((await db.query(STATE)).rows[0]).toMatchObject({ role: SERVICE.role });
    expect((await db.query(SALES)).rows).toHaveLength(3);
  }
});

test("a statement that fails in a transaction fails the transaction", async () => {
  await expect(
    db.transaction(async (tx) => {
      await tx.inProject("p1").query("select 1 / 0");
    }),
  ).rejects.toMatchObject({ code: "22012" });
  expect((await db.query(STATE)).rows[0]).toMatchObject({ role: SERVICE.role });
});

test("it can neither write, nor read rows without a project", async () => {
  const forbidden = { code: "42501" };
  const p1 = db.inProject("p1");
  await expect(p1.query("select * from setting")).rejects.toMatchObject(forbidden);
  await expect(p1.query("select * from visit_default")).rejects.toMatchObject(forbidden);
  await expect(
    db.transaction((tx) => tx.inProject("p1").query("insert into sale values ('p1', 'x', 1)")),
  ).rejects.toMatchObject(forbidden);
});

test("exports read the rows of their project only", async () => {
  const exported: unknown[] = [];
  for await (const rows of db.bulk("p1").readRows({ text: SALES, values: [] }))
    exported.push(...rows);
  expect(exported).toEqual(OF_P1);
  const chunks = await Array.fromAsync(db.bulk("p2").copyCsv({ text: SALES, values: [] }));
  expect(Buffer.concat(chunks).toString()).toBe("p2,a\n");
});

test("the tenant role sees nothing without the setting", async () => {
  for (const setting of ["", "set local scrip.project = '';", "set local scrip.project = 'p3';"]) {
    const result = await query(
      `begin; set local role ${TENANT}; ${setting} select * from till.sale; commit`,
    );
    const rows = (result as unknown as { readonly rows: readonly unknown[] }[]).flatMap(
      (one) => one.rows,
    );
    expect(rows).toEqual([]);
  }
});

test("other roles see the rows that they are granted, as before", async () => {
  const reader = `scrip_test_reader_${process.pid}`;
  await query(
    `create role ${reader}; grant usage on schema till to ${reader}; grant select on till.sale to ${reader}`,
  );
  try {
    const results = await query(`set role ${reader}; select * from till.sale`);
    expect((results as unknown as { readonly rows: readonly unknown[] }[])[1]?.rows).toHaveLength(
      3,
    );
  } finally {
    await query(`drop owned by ${reader}; drop role ${reader}`);
  }
});

test("a migration restores policies that are missing", async () => {
  await query("drop policy rows_of_project on till.sale");
  expect((await db.inProject("p1").query(SALES)).rows).toHaveLength(3);
  await migrate({ url, ...SERVICE });
  expect((await db.inProject("p1").query(SALES)).rows).toEqual(OF_P1);
});

test("the policy of the role of the service is folded away, also in prepared statements and upserts", async () => {
  const statements = [
    "select * from sale where project_id = 'p1' and id = 'a'",
    "insert into sale values ('p1', 'a', 1) on conflict (project_id, id) do update set amount = excluded.amount returning *",
    "update sale set amount = 2 where project_id = 'p1' and id = 'a'",
  ];
  const plans = async () => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(
      `set role ${SERVICE.role}; set search_path to till; set plan_cache_mode to force_generic_plan`,
    );
    const found: unknown[] = [];
    for (const [index, text] of statements.entries()) {
      await client.query(`prepare s${index} as ${text}`);
      found.push((await client.query(`explain (verbose, costs off) execute s${index}`)).rows);
    }
    await client.end();
    return found;
  };
  const withPolicies = await plans();
  await query("alter table till.sale disable row level security");
  const withoutPolicies = await plans();
  await query("alter table till.sale enable row level security");
  expect(withPolicies).toEqual(withoutPolicies);
});

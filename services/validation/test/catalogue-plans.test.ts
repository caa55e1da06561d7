import { asAdmin, entriesRead, pagesRead, testDatabase } from "@scrip/testing";
import { expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { type CatalogueQuery, findInCatalogue } from "../src/store/catalogue-lookup.ts";
import { findSkusOf } from "../src/store/catalogue.ts";

const ROWS = 20_000;
const FEW_ROWS = 60;
const TABLES = ["product", "sku"];
const REQUESTS = Array.from({ length: 100 }, (_, index) => index * 197 + 1);
/** Entries read per name: one index descent per column, the row, and a margin. */
const MOST_PAGES = 12;

const asking = (namesOf: (n: number) => Pick<CatalogueQuery, "skus" | "products">) =>
  REQUESTS.map((n): CatalogueQuery => ({ projectId: "proj_1", ...namesOf(n) }));

/** A batch of queries, and the number of names and products of SKUs in it. */
const LOOKUPS = {
  "products by ids": [asking((n) => ({ products: [`prod_${n}`], skus: [] })), 100],
  "products by source ids": [asking((n) => ({ products: [`shirt_${n}`], skus: [] })), 100],
  "SKUs by ids": [asking((n) => ({ products: [], skus: [`sku_${n}`] })), 200],
  "SKUs by source ids": [asking((n) => ({ products: [], skus: [`size_${n}`] })), 200],
  both: [asking((n) => ({ products: [`shirt_${n + 1}`], skus: [`size_${n}`] })), 300],
  "names that are unknown": [asking((n) => ({ products: [`p${n}`], skus: [`s${n}`] })), 200],
} as const;

type Fill = (rows: number, project?: string) => Promise<void>;

/** Table contents while the plans are created and analysed; the project itself is empty. */
const STATES: Readonly<Record<string, ((fill: Fill) => Promise<void>) | null>> = {
  "never analysed": null,
  "analysed while they were empty": async () => {},
  "analysed while they were small": (fill) => fill(FEW_ROWS),
  "with the statistics of other projects": (fill) => fill(2_000, "'other_' || n % 40"),
};

test.each(Object.entries(STATES))(
  "products and SKUs are looked up by their keys, even with plans cached for tables %s",
  async (_, before) => {
    // Plans belong to a connection, so the pool has one.
    await using db = await testDatabase({
      schema: SCHEMA,
      role: ROLE,
      folder: MIGRATIONS,
      poolSize: 1,
    });
    await asAdmin(db.url, async (admin) => {
      const eachTable = async (statementOf: (table: string) => string) => {
        for (const table of TABLES) await admin.query(statementOf(`${SCHEMA}.${table}`));
      };
      const fill: Fill = async (rows, project = "'proj_1'") => {
        await admin.query(
          `insert into validation.product (project_id, id, source_id, created_at)
           select ${project}, 'prod_' || n, 'shirt_' || n, now() from generate_series(1, ${rows}) n`,
        );
        await admin.query(
          `insert into validation.sku (project_id, id, source_id, product_id, created_at)
           select ${project}, 'sku_' || n, 'size_' || n, 'prod_' || n, now()
             from generate_series(1, ${rows}) n`,
        );
      };
      // Prevents autovacuum from analysing the tables.
      await eachTable((table) => `alter table ${table} set (autovacuum_enabled = false)`);
      if (before !== null) {
        await before(fill);
        await eachTable((table) => `analyze ${table}`);
        await eachTable((table) => `delete from ${table}`);
      }
      // Postgres keeps a generic plan from the sixth execution on.
      for (let run = 0; run < 8; run += 1) await findInCatalogue(db, LOOKUPS.both[0]);
      await fill(ROWS);
    });
    for (const [name, [query, rows]] of Object.entries(LOOKUPS)) {
      const pages = await pagesRead(db);
      await findInCatalogue(db, query);
      expect(((await pagesRead(db)) - pages) / rows, name).toBeLessThanOrEqual(MOST_PAGES);
    }
  },
);

test("returns to each query of a batch the entries of its own project", async () => {
  await using db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
  await db.query(
    `insert into product (project_id, id, source_id, name, price, attributes, metadata, created_at)
     select project, id, source_id, project || ' ' || id, 5, '{size}', '{"a": 1}',
            '2026-01-01T00:00:00.250Z'
       from unnest('{one,two}'::text[]) as project,
            (values ('prod_1', 'linen'), ('prod_2', null), ('prod_3', 'prod_1')) as p (id, source_id)`,
  );
  await db.query(
    `insert into sku (project_id, id, source_id, product_id, sku, attributes, created_at, updated_at)
     values ('two', 'sku_1', 'linen', 'prod_2', 'M', '{"size": "M"}', '2026-01-01Z', '2026-01-02Z')`,
  );
  const ask = (projectId: string, products: string[], skus: string[]) => ({
    projectId,
    products,
    skus,
  });
  const [one, two, three, other] = await findInCatalogue(db, [
    ask("one", ["linen", "prod_1"], ["linen"]),
    ask("two", [], ["linen"]),
    ask("one", ["prod_1", "prod_2", "nothing"], []),
    ask("three", ["linen"], ["sku_1"]),
  ]);
  expect(one?.product("linen")).toEqual({
    object: "product",
    project_id: "one",
    product_id: null,
    id: "prod_1",
    source_id: "linen",
    name: "one prod_1",
    price: 5n,
    image_url: null,
    attributes: ["size"],
    metadata: { a: 1 },
    created_ms: Date.parse("2026-01-01T00:00:00.250Z"),
    updated_ms: null,
  });
  // Ids take precedence over source ids.
  expect(one?.product("prod_1")?.id).toBe("prod_1");
  expect(one?.sku("linen")).toBeUndefined();
  expect(two?.sku("linen")).toMatchObject({
    id: "sku_1",
    product_id: "prod_2",
    name: "M",
    attributes: { size: "M" },
    updated_ms: Date.parse("2026-01-02Z"),
  });
  expect(two?.product("prod_2")?.name).toBe("two prod_2");
  expect(["prod_1", "prod_2", "nothing"].map((name) => three?.product(name)?.id)).toEqual([
    "prod_1",
    "prod_2",
    undefined,
  ]);
  expect([other?.product("linen"), other?.sku("sku_1")]).toEqual([undefined, undefined]);
});

test("of a product with many SKUs, the first are read, and the others only counted", async () => {
  await using db = await testDatabase({
    schema: SCHEMA,
    role: ROLE,
    folder: MIGRATIONS,
    poolSize: 1,
  });
  await db.query(
    "insert into product (project_id, id, created_at) select 'p', 'prod_' || n, now() from generate_series(1, 2) n",
  );
  await db.query(
    `insert into sku (project_id, id, product_id, created_at)
     select 'p', 'sku_' || lpad(n::text, 6, '0'), 'prod_' || 1 + n / ${ROWS}, now() + n * interval '1 ms'
       from generate_series(1, ${ROWS}) n`,
  );
  await asAdmin(db.url, (client) => client.query(`vacuum analyze ${SCHEMA}.sku`));
  const [before, pages] = [await entriesRead(db, "sku"), await pagesRead(db)];
  const found = await findSkusOf(db, "p", ["prod_2", "prod_1", "prod_3", "prod_1"]);
  // Of the index, of which there are half as many as of the table.
  expect((await pagesRead(db)) - pages).toBeLessThan(ROWS / 80);
  // A hundred beside the number.
  expect((await entriesRead(db, "sku")) - before).toBeLessThan(ROWS + 200);
  expect([...found].map(([id, { rows, total }]) => [id, rows.length, total])).toEqual([
    ["prod_1", 100, BigInt(ROWS - 1)],
    ["prod_2", 1, 1n],
  ]);
  expect(
    found
      .get("prod_1")
      ?.rows.map(({ id }) => id)
      .slice(0, 2),
  ).toEqual(["sku_000001", "sku_000002"]);
});

import { asAdmin, entriesRead, testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { deleteBinEntry, listBinEntries } from "../src/store/bin-entries.ts";

const ROWS = 10_000;
const LIMIT = 10;
/** Entries of all indexes for each entry of a page. */
const MOST_PER_PAGE = 5 * LIMIT;

// Plans belong to a connection, so the pool has one.
const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS, poolSize: 1 });
afterAll(() => db[Symbol.asyncDispose]());
// All of one campaign: by the statistics, any object has that many entries.
await db.query(
  `insert into bin_entry (project_id, id, resource_id, resource_type, resource_name, resource_parent_id, created_at)
   select 'p', 'tbe_' || lpad(n::text, 6, '0'), 'v_' || n, 'voucher', 'CODE' || n, 'camp_1', now()
     from generate_series(1, ${ROWS}) n`,
);
await asAdmin(db.url, (client) => client.query("analyze campaign.bin_entry"));

const list = (after?: string) =>
  listBinEntries(db, {
    projectId: "p",
    conditions: [],
    values: ["p"],
    descending: false,
    after,
    limit: LIMIT,
  });

const idsOf = ({ entries }: Awaited<ReturnType<typeof list>>) => entries.map(({ id }) => id);
const idOf = (n: number): string => `tbe_${String(n).padStart(6, "0")}`;

test("a page of the bin reads its own entries only", async () => {
  const before = await entriesRead(db, "bin_entry");
  const page = await list(idOf(100));
  expect(idsOf(page)).toEqual(Array.from({ length: LIMIT }, (_, index) => idOf(101 + index)));
  expect(page.hasMore).toBe(true);
  expect((await list(idOf(ROWS - 1))).hasMore).toBe(false);
  expect((await entriesRead(db, "bin_entry")) - before).toBeLessThan(MOST_PER_PAGE);
});

test("an entry is deleted without reading the others", async () => {
  const before = await entriesRead(db, "bin_entry");
  await deleteBinEntry(db, "p", idOf(1));
  expect((await entriesRead(db, "bin_entry")) - before).toBeLessThan(MOST_PER_PAGE);
  expect(idsOf(await list())[0]).toBe(idOf(2));
});

test("the entry of a campaign is deleted with those of its vouchers", async () => {
  await db.query(
    `insert into bin_entry (project_id, id, resource_id, resource_type, resource_name, created_at)
     values ('p', 'tbe_campaign', 'camp_1', 'campaign', 'Spring', now())`,
  );
  await deleteBinEntry(db, "p", "tbe_campaign");
  expect(await list()).toEqual({ entries: [], hasMore: false });
});

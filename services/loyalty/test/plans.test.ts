import { randomBytes } from "node:crypto";

import type { ProjectQueryable } from "@scrip/postgres";
import { asAdmin, entriesRead, pagesRead, testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { evaluateSegments } from "../src/segment/evaluate-segments.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { insertActivities } from "../src/store/activities.ts";
import { shareLockCustomers } from "../src/store/customer-counts.ts";
import { findProfiles, listProfiles } from "../src/store/customer-profiles.ts";
import { deleteCustomer, findCustomersBy } from "../src/store/customers.ts";
import { listLedgerEntries } from "../src/store/ledger-entries.ts";
import { findActiveLots } from "../src/store/points-lots.ts";
import { findMemberships } from "../src/store/segments.ts";

// Plans belong to a connection, so the pool has one.
const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS, poolSize: 1 });
afterAll(() => db[Symbol.asyncDispose]());
// An analysis between the insertions of two projects would expect no rows of the second one.
await asAdmin(db.url, (client) =>
  client.query(`alter table ${SCHEMA}.customer set (autovacuum_enabled = false)`),
);

/** With fewer rows, a sequential scan would be cheaper. */
const ROWS = 30_000;
const PART = 5_000;
const SOME = [1, 2, 3, 4, 5].map((n) => ({ projectId: "proj_1", id: `cust_${n}` }));

const lookups = {
  customer: () => findProfiles(db, SOME),
  segment_customer: () => findMemberships(db, SOME),
};
const lock = () =>
  shareLockCustomers(
    db,
    SOME.map(({ projectId, id: customerId }) => ({ projectId, customerId })),
  );

const storeActivities = () =>
  insertActivities(
    db,
    SOME.map(({ projectId, id: customerId }) => ({
      projectId,
      customerId,
      id: `evcus_${randomBytes(9).toString("hex")}`,
      type: "customer.updated",
      cardId: null,
      groupId: "event_1",
      createdAt: 0,
      occurredAt: 0,
      campaignId: null,
      campaignType: null,
      rewardId: null,
      productIds: null,
      data: {},
    })),
  );

test("customers are found by index, even with plans cached for empty tables", async () => {
  // As in the first minutes of a session: from the sixth run on, Postgres keeps the plan of a named statement.
  for (let run = 0; run < 10; run += 1) {
    await lock();
    await storeActivities();
    for (const lookup of Object.values(lookups)) await lookup();
  }
  await db.query(
    `insert into segment (project_id, id, name, type, created_at)
     values ('proj_1', 'seg_1', 'all', 'static', now())`,
  );
  // In parts: a statement may take some seconds only.
  for (let from = 1; from <= ROWS; from += PART) {
    const numbers = `generate_series(${from}, ${from + PART - 1}) n`;
    await db.query(
      `insert into customer (project_id, id, created_at) select 'proj_1', 'cust_' || n, now() from ${numbers}`,
    );
    await db.query(
      `insert into segment_customer (project_id, segment_id, customer_id)
       select 'proj_1', 'seg_1', 'cust_' || n from ${numbers}`,
    );
  }
  const ofCustomers = [lock, storeActivities].map((lookup) => ["customer", lookup] as const);
  for (const [table, lookup] of [...Object.entries(lookups), ...ofCustomers]) {
    const before = await entriesRead(db, table);
    for (let run = 0; run < 10; run += 1) await lookup();
    expect((await entriesRead(db, table)) - before, table).toBeLessThanOrEqual(10 * SOME.length);
  }
});

test("pages of customers are read by the index of their time, also within a millisecond of many", async () => {
  await db.query(
    `insert into customer (project_id, id, created_at)
     select 'proj_pages', 'cust_' || n, to_timestamp(1000 + n / 300) from generate_series(1, ${ROWS}) n`,
  );
  const plans: string[] = [];
  const explained: ProjectQueryable = {
    query: (statement, values) => db.query(statement, values),
    inProject: (projectId) => ({
      query: async (statement, values) => {
        const { text, values: bound } =
          typeof statement === "string" ? { text: statement, values } : statement;
        const { rows } = await db.query<{ "QUERY PLAN": string }>(`explain ${text}`, bound);
        // The total counts all customers of the project.
        if (!text.includes("as total")) plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
        return await db.inProject(projectId).query(statement, values);
      },
    }),
  };
  for (const descending of [true, false]) {
    const { customers, hasMore } = await listProfiles(explained, {
      projectId: "proj_pages",
      conditions: [],
      values: ["proj_pages"],
      order: { by: "created_at", descending },
      startingAfter: { seconds: 1050n, nanos: 200 },
      page: { limit: 10, offset: 0 },
    });
    expect([customers.length, hasMore]).toEqual([10, true]);
  }
  expect(plans).toHaveLength(4);
  for (const plan of plans) {
    expect(plan).toContain("customer_project_created_at");
    expect(plan).not.toContain("Seq Scan on customer");
  }
});

test("orders of a customer are found by index for their profile and their deletion", async () => {
  await db.query(
    `insert into customer_order (project_id, order_id, customer_id, amount, changed_at, paid)
     select 'proj_2', 'ord_' || n, 'cust_' || n / 2, 1, now(), n % 2 = 0 from generate_series(1, ${ROWS}) n`,
  );
  await db.query(
    `insert into customer (project_id, id, created_at)
     select 'proj_2', 'cust_' || n, now() from generate_series(1, 10) n`,
  );
  const before = await entriesRead(db, "customer_order");
  const [found] = await findProfiles(db, [{ projectId: "proj_2", id: "cust_1" }]);
  expect(found?.profile.summary).toMatchObject({ orders: 1n, ordersAmount: 1n });
  expect(await deleteCustomer(db, "proj_2", "cust_1")).toMatchObject({ orders: 1n });
  expect((await entriesRead(db, "customer_order")) - before).toBeLessThanOrEqual(10);
  const { rows } = await db.query("select from customer_order where customer_id = 'cust_1'");
  expect(rows).toEqual([]);
});

test("custom events are counted only as far as segments compare their number", async () => {
  await db.query(
    `insert into custom_event (project_id, id, customer_id, name, metadata, created_at)
     select 'proj_3', 'event_' || n, 'cust_1', 'visit_' || n % 2, '{}', now() from generate_series(1, ${ROWS}) n`,
  );
  await db.query(
    "insert into customer (project_id, id, created_at) values ('proj_3', 'cust_1', now())",
  );
  const filter = { "events.visit_1.count": { conditions: { $more_than: [4] } } };
  await db.query(
    `insert into segment (project_id, id, name, type, filter, created_at)
     values ('proj_3', 'seg_1', 'Regulars', 'passive', $1, now())`,
    [JSON.stringify(filter)],
  );
  const before = await entriesRead(db, "custom_event");
  const query = { projectId: "proj_3", customerId: "cust_1", input: undefined };
  const found = await evaluateSegments(createDeps(db), [
    { ...query, time: { now: 0, timeZone: "UTC" } },
  ]);
  expect(found).toMatchObject([{ segments: [{ id: "seg_1" }] }]);
  expect((await entriesRead(db, "custom_event")) - before).toBeLessThanOrEqual(5);
});

test.each(["never analysed", "analysed while they were empty", "analysed while they were small"])(
  "the statements of redemptions use indexes with plans cached for tables %s",
  async (state) => {
    const names = Array.from({ length: 200 }, (_, index) => index * 97 + 1);
    const keysOf = (column: "id" | "source_id", prefix: string) =>
      names.map((n) => ({ projectId: "proj_1", column, value: `${prefix}_${n}` }));
    await using own = await testDatabase({
      schema: SCHEMA,
      role: ROLE,
      folder: MIGRATIONS,
      poolSize: 1,
    });
    const lookupsOfRedemptions = {
      ids: () => findCustomersBy(own, "id", keysOf("id", "cust")),
      "source ids": () => findCustomersBy(own, "source_id", keysOf("source_id", "shop")),
      locked: () =>
        own.transaction((tx) =>
          shareLockCustomers(
            tx,
            names.map((n) => ({ projectId: "proj_1", customerId: `cust_${n}` })),
          ),
        ),
    };
    await asAdmin(own.url, async (admin) => {
      const fill = (rows: number) =>
        admin.query(
          `insert into ${SCHEMA}.customer (project_id, id, source_id, created_at)
           select 'proj_1', 'cust_' || n, 'shop_' || n, now() from generate_series(1, ${rows}) n`,
        );
      // Otherwise autovacuum would analyse the table at any time.
      await admin.query(`alter table ${SCHEMA}.customer set (autovacuum_enabled = false)`);
      if (state === "analysed while they were small") await fill(60);
      if (state !== "never analysed") await admin.query(`analyze ${SCHEMA}.customer`);
      await admin.query(`delete from ${SCHEMA}.customer`);
      for (let run = 0; run < 8; run += 1)
        for (const lookup of Object.values(lookupsOfRedemptions)) await lookup();
      await fill(ROWS);
    });
    for (const [name, lookup] of Object.entries(lookupsOfRedemptions)) {
      const before = await pagesRead(own);
      await lookup();
      // One descent of an index, the row, and some tolerance.
      expect(((await pagesRead(own)) - before) / names.length, name).toBeLessThanOrEqual(12);
    }
  },
);

test("a page of a ledger is read from its index for a ledger of any length", async () => {
  const limit = 10;
  const page = (afterId: string | null) =>
    listLedgerEntries(db, {
      projectId: "proj_1",
      of: "card_id",
      conditions: ["true"],
      values: ["proj_1", "v_1"],
      limit,
      descending: true,
      afterId,
    });
  await db.query(
    `insert into ledger_entry (project_id, card_id, version, id, type, points, balance_after, cause,
            created_at)
     select 'proj_1', 'v_1', n, 'vtx_' || lpad(n::text, 18, '0'), 'POINTS_REFUND', 1, n, 'ps_' || n, now()
       from generate_series(1, ${ROWS}) n`,
  );
  await asAdmin(db.url, (client) => client.query(`analyze ${SCHEMA}.ledger_entry`));
  const before = await entriesRead(db, "ledger_entry");
  for (const afterId of [null, "vtx_000000000000015000"]) {
    expect(await page(afterId)).toHaveLength(limit);
  }
  expect((await entriesRead(db, "ledger_entry")) - before).toBeLessThanOrEqual(4 * limit);
});

test("the active lots of cards are found by index, with statistics from when all lots had expired", async () => {
  const insertLots = (prefix: string, expired: boolean) =>
    db.query(
      `insert into points_lot (project_id, card_id, id, expires_on, points, expired, created_at)
       select 'proj_lots', 'v_' || n, $1 || n, '2030-01-01', 1, $2, now() from generate_series(1, ${ROWS}) n`,
      [prefix, expired],
    );
  await asAdmin(db.url, (client) =>
    client.query(`alter table ${SCHEMA}.points_lot set (autovacuum_enabled = false)`),
  );
  await insertLots("lopb_old_", true);
  await asAdmin(db.url, (client) => client.query(`analyze ${SCHEMA}.points_lot`));
  await insertLots("lopb_", false);
  const cards = Array.from({ length: 500 }, (_, index) => ({
    projectId: "proj_lots",
    cardId: `v_${index * 7 + 1}`,
  }));
  const before = await entriesRead(db, "points_lot");
  const lots = await findActiveLots(db, cards);
  expect((await entriesRead(db, "points_lot")) - before).toBeLessThanOrEqual(2 * cards.length);
  expect(lots.size).toBe(cards.length);
  expect([...lots.values()][0]).toMatchObject([{ points: 1n, expired: false }]);
});

import { createDatabase } from "@scrip/postgres";
import { asAdmin, entriesRead } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { ROLE, SCHEMA } from "../src/service.ts";
import { listPublications } from "../src/store/publication-lists.ts";
import { listVouchers } from "../src/store/voucher-lists.ts";
import { startTestService } from "./deps.ts";

const ROWS = 5_000;
const LIMIT = 10;
const PAGE = { limit: LIMIT, offset: 0 };
/** Of an index and the table, for each row of a page. */
const MOST_PER_PAGE = 5 * LIMIT;

const service = await startTestService();
const db = createDatabase({
  url: service.db.url,
  schema: SCHEMA,
  role: ROLE,
  poolSize: 1,
  onError: () => {},
});
afterAll(async () => {
  await db.close();
  await service[Symbol.asyncDispose]();
});
await asAdmin(service.db.url, async (client) => {
  await client.query(
    `insert into voucher.voucher (project_id, id, code, code_key, type, discount, metadata, asset_id,
            is_referral_code, created_at, definition_version, campaign_id, publish_count)
     select 'p', 'v_' || n, 'CODE' || n, 'CODE' || n, 'DISCOUNT_VOUCHER', '{}', '{}', 'a', false,
            now() + n * interval '1 ms', 1, 'camp', 0
       from generate_series(1, ${ROWS}) n`,
  );
  await client.query(
    `insert into voucher.voucher_usage (project_id, voucher_id, definition_version, redeemed_quantity)
     select 'p', 'v_' || n, 1, n % 2 from generate_series(1, ${ROWS}) n`,
  );
  await client.query(
    `insert into voucher.publication (project_id, id, customer_id, voucher_type, created_at, channel, result,
            metadata, is_referral_code, request_id)
     select 'p', 'pub_' || n, 'cust_1', 'DISCOUNT_VOUCHER', now() + n * interval '1 ms', 'API',
            'SUCCESS', '{}', false, 'v-1'
       from generate_series(1, ${ROWS}) n`,
  );
  await client.query(`vacuum analyze voucher.voucher, voucher.voucher_usage, voucher.publication`);
});

const newest = { by: "created_at", descending: true };
const vouchers = (conditions: readonly string[] = [], values: readonly unknown[] = []) =>
  listVouchers(db, {
    projectId: "p",
    conditions,
    values: ["p", ...values],
    order: newest,
    page: PAGE,
  });

async function readFrom(table: string, list: () => Promise<unknown>): Promise<number> {
  const before = await entriesRead(db, table);
  await list();
  return (await entriesRead(db, table)) - before;
}

test("a list of vouchers reads the usage of those on its page only", async () => {
  const lists = [() => vouchers(), () => vouchers(["v.campaign_id = $2"], ["camp"])];
  for (const list of lists) {
    expect(await list()).toMatchObject({ total: BigInt(ROWS), vouchers: { length: LIMIT } });
    expect(await readFrom("voucher_usage", list)).toBeLessThan(MOST_PER_PAGE);
  }
});

test("conditions on the usage of vouchers hold", async () => {
  const { total, vouchers: found } = await vouchers(["u.redeemed_quantity = $2"], [1]);
  expect(total).toBe(BigInt(ROWS / 2));
  expect(found.map(({ usage }) => usage.redeemedQuantity)).toEqual(Array(LIMIT).fill(1n));
  const ofCode = () => vouchers(["v.code_key = $2", "u.redeemed_quantity = $3"], ["CODE7", 1]);
  expect(await ofCode()).toMatchObject({ total: 1n, vouchers: { length: 1 } });
  expect(await readFrom("voucher_usage", ofCode)).toBeLessThan(MOST_PER_PAGE);
});

test("the newest items are read from an index, and all are read once, to be counted", async () => {
  const publications = () =>
    listPublications(db, {
      projectId: "p",
      conditions: [],
      values: ["p"],
      order: newest,
      page: PAGE,
    });
  expect(await readFrom("voucher", vouchers)).toBeLessThan(ROWS + MOST_PER_PAGE);
  expect(await readFrom("publication", publications)).toBeLessThan(ROWS + MOST_PER_PAGE);
});

test("a list of a campaign reads its vouchers only, also when all others are newer", async () => {
  const ofCampaign = ROWS / 2;
  await asAdmin(service.db.url, async (client) => {
    await client.query(
      `update voucher.voucher set campaign_id = 'older', created_at = created_at - interval '1 day'
        where project_id = 'p' and substring(id from 3)::int <= ${ofCampaign}`,
    );
    await client.query("vacuum analyze voucher.voucher");
  });
  const list = () => vouchers(["v.campaign_id = $2"], ["older"]);
  expect(await list()).toMatchObject({ total: BigInt(ofCampaign), vouchers: { length: LIMIT } });
  expect(await readFrom("voucher", list)).toBeLessThan(ofCampaign + MOST_PER_PAGE);
});

import { createDatabase } from "@scrip/postgres";
import { afterAll, expect, test } from "vitest";

import type { Count } from "../src/domain/counts.ts";
import { ROLE, SCHEMA, withIndexes } from "../src/service.ts";
import { readCounts } from "../src/store/counts.ts";
import { findAnswers } from "../src/store/idempotency.ts";
import { lockFreeVouchers } from "../src/store/publishable-vouchers.ts";
import { lockUsages } from "../src/store/usages.ts";
import { findVouchers, findVouchersById } from "../src/store/vouchers.ts";
import { startFixture } from "./fixture.ts";

const fixture = await startFixture();
const db = createDatabase({
  url: withIndexes(fixture.db.url),
  schema: SCHEMA,
  role: ROLE,
  poolSize: 1,
  onError: () => {},
});
afterAll(async () => {
  await db.close();
  await fixture[Symbol.asyncDispose]();
});

const ROWS = 20_000;
/** A lookup of one row through a key takes some 20 µs; one that reads the project takes 2 ms and more. */
const MAX_MS = 2_000;
const NAMES = Array.from({ length: 500 }, (_, index) => index * 37);

const countOf = (overrides: Partial<Count>): Count => ({
  projectId: "p",
  scope: "campaign",
  scopeId: "camp_1",
  measure: "redemptions",
  customerId: null,
  channelId: null,
  since: null,
  productId: null,
  ...overrides,
});

const lookups = {
  "counts of customers": () =>
    readCounts(
      db,
      NAMES.flatMap((n) => [
        countOf({ customerId: `cust_${n}` }),
        countOf({ customerId: `cust_${n}`, since: 1, measure: "orders_amount" }),
        countOf({ scope: "voucher", scopeId: "v_1", customerId: `cust_${n}` }),
        countOf({ scope: "promotion_tier", scopeId: "promo_1", customerId: `cust_${n}` }),
      ]),
    ),
  "counts of codes": () =>
    readCounts(
      db,
      NAMES.map((n) => countOf({ scope: "voucher", scopeId: `v_${n}`, since: 1 })),
    ),
  codes: () =>
    findVouchers(
      db,
      NAMES.map((n) => ({ projectId: "p", code: `CODE${n}` })),
    ),
  ids: () =>
    findVouchersById(
      db,
      NAMES.map((n) => ({ projectId: "p", id: `v_${n}` })),
    ),
  usages: () =>
    lockUsages(
      db,
      NAMES.map((n) => ({ projectId: "p", voucherId: `v_${n}` })),
    ),
  keys: () =>
    findAnswers(
      db,
      NAMES.map((n) => ({ projectId: "p", key: `key${n}` })),
    ),
  free: async () => {
    const query = { projectId: "p", campaignId: "camp", now: Date.now(), limit: 1 };
    for (let run = 0; run < 100; run += 1)
      await db.transaction((tx) => lockFreeVouchers(tx, query));
  },
};

test.each(["for the first time", "again, with statistics of the first time"])(
  "plans that were made for empty tables still use the keys when the tables are large (%s)",
  async (state) => {
    await fixture.db.query("delete from voucher");
    await fixture.db.query("delete from voucher_usage");
    await fixture.db.query("delete from idempotency");
    await fixture.db.query("delete from redemption");
    // As a session does in its first minutes: the plan is kept from the sixth run on.
    for (let run = 0; run < 8; run += 1)
      for (const lookup of Object.values(lookups)) await lookup();
    await fixture.db.query(
      `insert into voucher (project_id, id, code, code_key, type, discount, metadata, asset_id,
              is_referral_code, created_at, definition_version, campaign_id, publish_count)
       select 'p', 'v_' || n, 'CODE' || n, 'CODE' || n, 'DISCOUNT_VOUCHER', '{}', '{}', 'a', false, now(), 1,
              -- The last ones of a campaign that is nearly given away.
              'camp', case when n > ${ROWS} - 10 then 0 else 1 end
         from generate_series(1, ${ROWS}) n`,
    );
    await fixture.db.query(
      `insert into voucher_usage (project_id, voucher_id, definition_version)
       select 'p', 'v_' || n, 1 from generate_series(1, ${ROWS}) n`,
    );
    await fixture.db.query(
      `insert into idempotency (project_id, key, request_hash, outcome)
       select 'p', 'key' || n, 'h', 'o' from generate_series(1, ${ROWS}) n`,
    );
    // Half of them in one campaign, by one code; the others by a code each.
    await fixture.db.query(
      `insert into redemption (project_id, id, voucher_id, campaign_id, customer_id, created_at,
              status, channel_id, channel_type, request_id)
       select 'p', 'r_' || n, case when n % 2 = 0 then 'v_1' else 'v_' || n end,
              case when n % 2 = 0 then 'camp_1' end, 'cust_' || n, now(), 'SUCCEEDED', 'app',
              'API', 'v-1'
         from generate_series(1, ${ROWS}) n`,
    );
    for (const [name, lookup] of Object.entries(lookups)) {
      const start = performance.now();
      await lookup();
      expect(performance.now() - start, `${name}, ${state}`).toBeLessThan(MAX_MS);
    }
  },
);

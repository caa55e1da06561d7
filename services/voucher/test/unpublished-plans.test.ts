import { createDatabase } from "@scrip/postgres";
import { asAdmin, entriesRead } from "@scrip/testing";
import { expect, test } from "vitest";

import { ROLE, SCHEMA } from "../src/service.ts";
import { lockUnpublishedVouchers } from "../src/store/unpublished-vouchers.ts";
import { startTestService } from "./deps.ts";

const PUBLISHED = 20_000;

test("a publication does not read published vouchers of its campaign, also in a table without statistics", async () => {
  await using service = await startTestService();
  await asAdmin(service.db.url, async (client) => {
    await client.query("alter table voucher.voucher set (autovacuum_enabled = false)");
    await client.query(
      `insert into voucher.voucher (project_id, id, code, code_key, type, discount, metadata, asset_id,
              is_referral_code, created_at, definition_version, campaign_id, publish_count)
       select 'p', 'v_' || n, 'CODE' || n, 'CODE' || n, 'DISCOUNT_VOUCHER', '{}', '{}', 'a', false,
              now() + n * interval '1 ms', 1, 'camp', 0
         from generate_series(1, ${PUBLISHED} + 10) n`,
    );
    // The index of unpublished vouchers is as large as others then.
    await client.query(
      `update voucher.voucher set publish_count = 1 where substring(id from 3)::int <= ${PUBLISHED}`,
    );
    await client.query(
      `insert into voucher.voucher_usage (project_id, voucher_id, definition_version, redeemed_quantity)
       select 'p', id, 1, 0 from voucher.voucher`,
    );
  });
  const db = createDatabase({
    url: service.db.url,
    schema: SCHEMA,
    role: ROLE,
    poolSize: 1,
    onError: () => {},
  });
  await using parts = new AsyncDisposableStack();
  parts.defer(() => db.close());
  const query = { projectId: "p", campaignId: "camp", now: Date.now(), limit: 1 };
  const publish = () => db.transaction((tx) => lockUnpublishedVouchers(tx, query));
  // The first one marks the entries of published vouchers as dead.
  expect(await publish()).toEqual([`v_${PUBLISHED + 1}`]);
  const before = await entriesRead(db, "voucher");
  await publish();
  expect((await entriesRead(db, "voucher")) - before).toBeLessThan(20);
});

import { create, toBinary } from "@bufbuild/protobuf";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { onCustomerDeleted } from "../src/events/on-customer-deleted.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());

const ROWS = 2_500;
/** Rows that one statement changes at most. */
const CHUNK = 1_000;
const CUSTOMER = { projectId: "p", customerId: "cust_1" };

async function createRows(): Promise<void> {
  const rows = `generate_series(1, ${ROWS}) n`;
  for (const statement of [
    `insert into redeemable_holder (project_id, id, voucher_id, customer_id, role, voucher_type, metadata, created_at)
     select 'p', 'rh_' || n, 'v_' || n, 'cust_1', 'REFEREE', 'DISCOUNT_VOUCHER', '{}', now() from ${rows}`,
    // Many at one time, as an import creates them.
    `insert into publication (project_id, id, customer_id, tracking_id, voucher_type, created_at, channel, result,
            metadata, is_referral_code, request_id)
     select 'p', 'pub_' || n, 'cust_1', 'track_1', 'DISCOUNT_VOUCHER', now() + n / 1200 * interval '1 s', 'API',
            'SUCCESS', '{}', false, 'v-1' from ${rows}`,
    `insert into redemption (project_id, id, customer_id, tracking_id, order_message, status, created_at, channel_id,
            channel_type, request_id)
     select 'p', 'r_' || n, 'cust_1', 'track_1', '', 'ROLLED_BACK', now(), '', '', '' from ${rows}`,
    `insert into redemption_rollback (project_id, id, redemption_id, customer_id, tracking_id, order_message, status,
            created_at, order_mode, channel_id, channel_type, request_id)
     select 'p', 'rr_' || n, 'r_' || n, 'cust_1', 'track_1', '', 'SUCCEEDED', now(), '', '', '', '' from ${rows}`,
    `insert into referral_conversion (project_id, id, voucher_id, referee_id, referrer_id, campaign_id, cause_type,
            cause_id, converted_at)
     select 'p', 'rc_' || n, 'v_' || n, 'cust_other', 'cust_1', 'camp_1', 'event', '', now() from ${rows}`,
  ])
    await db.query(statement);
}

test("a customer with many rows is removed in parts, each a short statement", async () => {
  await createRows();
  const changed: (number | null)[] = [];
  const query: typeof db.query = async (...args) => {
    const result = await db.query(...args);
    changed.push(result.rowCount);
    return result as never;
  };
  const message = create(CustomerDeletedSchema, { ...CUSTOMER, permanent: true });
  const event = {
    id: "event_1",
    topic: "scrip.customers.v1",
    key: CUSTOMER.customerId,
    projectId: CUSTOMER.projectId,
    type: CustomerDeletedSchema.typeName,
    payload: toBinary(CustomerDeletedSchema, message),
    headers: {},
    occurredAt: new Date(),
    partition: 0,
    offset: 0n,
  };
  await onCustomerDeleted({ ...db, query })([event], {
    group: "voucher-customers",
    topic: event.topic,
    signal: new AbortController().signal,
  });
  const { rows } = await db.query(
    `select (select count(*)::int from redeemable_holder) as holders,
            (select count(*)::int from referral_conversion) as conversions,
            (select count(*)::int from publication where tracking_id is not null) as publications,
            (select count(*)::int from redemption_rollback
              where num_nonnulls(customer_id, tracking_id, order_message) > 0) as rollbacks,
            (select count(*)::int from redemption
              where num_nonnulls(customer_id, tracking_id, order_message) > 0) as redemptions`,
  );
  expect(rows).toEqual([
    { holders: 0, conversions: 0, publications: 0, rollbacks: 0, redemptions: 0 },
  ]);
  expect(Math.max(...changed.map(Number))).toBe(CHUNK);
});

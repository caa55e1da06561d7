import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { afterAll, expect, test } from "vitest";

import { onActivity } from "../src/events/on-activity.ts";
import { onCustomerDeleted } from "../src/events/on-customer-deleted.ts";
import { CUSTOMERS_TOPIC } from "../src/events/topics.ts";
import { deliveryFrom, newCall, newEvent } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db, customers } = loyalty;

const ROWS = 5_000;
/** Rows that one statement deletes at most. */
const PART = 2_000;
const TABLES = ["customer_order", "custom_event", "awaited_card", "referral", "customer_activity"];

/** A customer with many rows of each kind. */
async function createLargeCustomer() {
  const call = newCall();
  const projectId = call.project.id;
  const { id } = await customers.createCustomer({ sourceId: "large" }, call);
  const rows = `generate_series(1, ${ROWS}) n`;
  for (const statement of [
    `insert into customer_order (project_id, order_id, customer_id, amount, changed_at, paid)
     select $1, 'ord_' || n, $2, 1, now(), true from ${rows}`,
    `insert into custom_event (project_id, id, customer_id, name, metadata, created_at)
     select $1, 'ce_' || n, $2, 'visit', '{}', now() from ${rows}`,
    `insert into awaited_card (project_id, customer_id, campaign_id, event_id, topic, type, payload, requested)
     select $1, $2, 'camp_1', 'event_' || n, '', '', '', false from ${rows}`,
    `insert into referral (project_id, voucher_id, referee_id, referrer_id, campaign_id, redemption_id, redeemed_at)
     select $1, 'v_' || n, 'cust_' || n, $2, 'camp_1', 'r_' || n, now() from ${rows}`,
    `insert into customer_activity (project_id, owner_id, id, group_id, type, data, created_at, occurred_at)
     select $1, decode(substr($2, 6), 'hex'), decode(lpad(to_hex(n), 18, '0'), 'hex'), '', 'updated', '', now(), now()
       from ${rows}`,
  ])
    await db.query(statement, [projectId, id]);
  return { call, customer: { projectId, customerId: id } };
}

const countOf = async (table: string, projectId: string): Promise<number> => {
  const { rows } = await db.query<{ count: bigint }>(
    `select count(*) as count from ${table} where project_id = $1`,
    [projectId],
  );
  return Number(rows[0]?.count);
};

test("no statement deletes all rows of a customer with many, and the event deletes the rest", async () => {
  const { call, customer } = await createLargeCustomer();
  const { projectId, customerId } = customer;
  const { dataJson } = await customers.deleteCustomerPermanently({ customerId }, call);
  expect(dataJson).toMatchObject({ orders: BigInt(ROWS), events: BigInt(ROWS) });
  for (const table of TABLES) expect(await countOf(table, projectId), table).toBe(ROWS - PART);

  const deleted: (number | null)[] = [];
  const query: typeof db.query = async (...args) => {
    const result = await db.query(...args);
    deleted.push(result.rowCount);
    return result as never;
  };
  const event = newEvent(CustomerDeletedSchema, { projectId, topic: CUSTOMERS_TOPIC }, customer);
  await onCustomerDeleted({ ...db, query })([event], deliveryFrom(CUSTOMERS_TOPIC));
  for (const table of TABLES) expect(await countOf(table, projectId), table).toBe(0);
  expect(Math.max(...deleted.map(Number))).toBe(PART);
});

test("activities that arrive late are deleted in parts too", async () => {
  const { customer } = await createLargeCustomer();
  const { projectId } = customer;
  const event = newEvent(CustomerDeletedSchema, { projectId, topic: CUSTOMERS_TOPIC }, customer);
  await onActivity(db)([event], deliveryFrom(CUSTOMERS_TOPIC));
  expect(await countOf("customer_activity", projectId)).toBe(0);
});

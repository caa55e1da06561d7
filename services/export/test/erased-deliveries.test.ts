import { newId } from "@scrip/ids";
import { testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { eraseDeliveries } from "../src/store/erased-deliveries.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());

const CUSTOMER_ID = "cust_1";
const WEBHOOKS = ["hook_a", "hook_b"];
/** More than one statement reads, and no multiple of it. */
const DELIVERIES = 2_500;
const EVERY = 100;

/** Stores the same deliveries for two webhooks; each hundredth names the customer. */
async function storeDeliveries(projectId: string): Promise<void> {
  await db.query(
    `insert into webhook (project_id, id, target_url, events, active, created_at)
     select $1, id, 'https://example.com', '{customer.updated}', true, now()
       from unnest($2::text[]) as id`,
    [projectId, WEBHOOKS],
  );
  await db.query(
    `insert into webhook_delivery
            (project_id, id, webhook_id, type, event_id, aggregate_id, sequence, body, status, created_at)
     select $1, format('whs_%s', n), webhook_id, 'customer.updated', n::text, n::text, 1,
            jsonb_build_object('id', n, 'data', jsonb_build_object('customer', jsonb_build_object(
              'id', case when n % $4::int = 0 then $5::text else 'cust_2' end, 'name', 'Ada')))::text,
            'SUCCEEDED', now()
       from unnest($2::text[]) as webhook_id, generate_series(1, $3::int) as n`,
    [projectId, WEBHOOKS, DELIVERIES, EVERY, CUSTOMER_ID],
  );
}

async function bodiesOf(projectId: string): Promise<readonly { id: number; data: unknown }[]> {
  const { rows } = await db.query<{ body: string }>(
    "select body from webhook_delivery where project_id = $1",
    [projectId],
  );
  return rows.map(({ body }) => JSON.parse(body));
}

test("erases a customer from all deliveries of all webhooks of the project, and from no others", async () => {
  const [projectId, other] = [newId("proj"), newId("proj")];
  await storeDeliveries(projectId);
  await storeDeliveries(other);
  const before = await bodiesOf(other);

  for (let time = 0; time < 2; time += 1) {
    await eraseDeliveries(db, { projectId, customerId: CUSTOMER_ID });
    const bodies = await bodiesOf(projectId);
    const erased = bodies.filter(({ id }) => id % EVERY === 0);
    expect(erased).toHaveLength((WEBHOOKS.length * DELIVERIES) / EVERY);
    for (const { data } of erased) {
      expect(data).toEqual({ customer: { object: "customer", id: CUSTOMER_ID } });
    }
    const names = bodies.filter(({ data }) => JSON.stringify(data).includes("Ada"));
    expect(names).toHaveLength(bodies.length - erased.length);
  }
  expect(await bodiesOf(other)).toEqual(before);
});

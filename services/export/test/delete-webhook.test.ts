import { asAdmin, testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import {
  deleteHiddenWebhooks,
  deletePartOfWebhook,
  hideWebhook,
} from "../src/store/deleted-webhooks.ts";
import { insertDeliveries } from "../src/store/webhook-deliveries.ts";
import { countWebhooks, findWebhook, listWebhooks } from "../src/store/webhooks.ts";

const HOOK = { projectId: "proj_1", webhookId: "wh_1" };
const ROWS = 5_000;
/** Rows that one statement deletes at most. */
const PART = 2_000;

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());

async function createRows(): Promise<void> {
  await asAdmin(db.url, async (client) => {
    await client.query(
      `insert into export.webhook (project_id, id, target_url, events, headers, active, created_at)
       values ('proj_1', 'wh_1', 'https://shop.example/', '{voucher.updated}', '{}', true, now())`,
    );
    await client.query(
      `insert into export.webhook_delivery (project_id, webhook_id, id, type, event_id, aggregate_id, sequence,
              body, created_at, next_attempt_at)
       select 'proj_1', 'wh_1', 'whs_' || n, 'voucher.created', 'event_' || n, 'v_' || n, 1, '{}', now(), now()
         from generate_series(1, ${ROWS}) n`,
    );
    await client.query(
      `insert into export.webhook_sequence (project_id, webhook_id, aggregate_id, last)
       select 'proj_1', 'wh_1', 'v_' || n, 1 from generate_series(1, ${ROWS}) n`,
    );
  });
}

const countOf = async (table: string): Promise<number> => {
  const { rows } = await db.query<{ count: number }>(`select count(*)::int as count from ${table}`);
  return rows[0]?.count ?? 0;
};

test("requests no longer find a deleted webhook, and its deliveries are deleted in parts", async () => {
  await createRows();
  expect(await hideWebhook(db, HOOK)).toBe(true);
  expect(await hideWebhook(db, HOOK)).toBe(false);
  expect(await findWebhook(db, "proj_1", "wh_1")).toBeUndefined();
  expect(await listWebhooks(db, "proj_1", 10)).toEqual([]);
  expect(await countWebhooks(db, "proj_1")).toBe(0);
  const late = {
    ...HOOK,
    id: "whs_late",
    type: "voucher.updated",
    eventId: "event_late",
    aggregateId: "v_1",
  };
  const delivery = { ...late, createdAt: new Date(), isBulk: false, bodyOf: () => "{}" };
  await db.transaction((tx) => insertDeliveries(tx, [delivery]));

  expect(await deletePartOfWebhook(db, HOOK)).toBe(true);
  for (const table of ["webhook_delivery", "webhook_sequence"])
    expect(await countOf(table), table).toBe(ROWS - PART);

  await deleteHiddenWebhooks(db);
  for (const table of ["webhook_delivery", "webhook_sequence", "webhook"])
    expect(await countOf(table), table).toBe(0);
});

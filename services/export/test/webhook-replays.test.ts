import { newId } from "@scrip/ids";
import { asAdmin } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { insertDeliveries } from "../src/store/webhook-deliveries.ts";
import { insertWebhook } from "../src/store/webhooks.ts";
import { newCall } from "./builders.ts";
import { startExports } from "./deps.ts";

const exports = await startExports();
afterAll(() => exports[Symbol.asyncDispose]());
const { db } = exports;

const ROWS = 4_000;

test("replayed deliveries are due in the order of their creation, whatever the plan of the statement", async () => {
  const call = newCall();
  const hook = { projectId: call.project.id, webhookId: newId("wh") };
  // With those of another project, so that PostgreSQL reads the table instead of an index.
  await storeDeliveries({ projectId: newId("proj"), webhookId: newId("wh") });
  await storeDeliveries(hook);
  // New versions of some rows: they are stored behind the others.
  await db.query(
    `update webhook_delivery set status = 'SUCCEEDED', next_attempt_at = null
      where webhook_id = $1 and sequence % 5 in (1, 3)`,
    [hook.webhookId],
  );
  await asAdmin(db.url, (client) => client.query("analyze export.webhook_delivery"));
  for (const _ of ["the replay", "its repetition"]) {
    const replay = { webhookId: hook.webhookId, since: { seconds: 0n } };
    const replayed = await exports.webhooks.replayWebhook(replay, call);
    expect(replayed).toMatchObject({ replayed: BigInt(ROWS) });
    const { rows } = await db.query(
      `select count(*)::int as due, (count(*) filter (where next_attempt_at <= previous))::int as misplaced
         from (select next_attempt_at, lag(next_attempt_at) over (order by created_at, id) as previous
                 from webhook_delivery where webhook_id = $1) delivery
        where next_attempt_at <= clock_timestamp()`,
      [hook.webhookId],
    );
    expect(rows).toEqual([{ due: ROWS, misplaced: 0 }]);
  }
});

async function storeDeliveries(hook: {
  readonly projectId: string;
  readonly webhookId: string;
}): Promise<void> {
  await insertWebhook(db, hook.projectId, {
    id: hook.webhookId,
    target_url: "https://shop.example/",
    events: ["voucher.published"],
    headers: {},
    active: true,
    created_at: new Date(),
  });
  const deliveries = Array.from({ length: ROWS }, (_, item) => ({
    ...hook,
    id: newId("whs"),
    type: "voucher.published",
    eventId: newId("event"),
    aggregateId: `v_${item % 7}`,
    createdAt: new Date(),
    isBulk: false,
    bodyOf: () => "{}",
  }));
  await db.transaction((tx) => insertDeliveries(tx, deliveries));
}

import { createPgEventBus } from "@scrip/events";
import { newId } from "@scrip/ids";
import { createDirectTransport } from "@scrip/rpc";
import { afterAll, expect, test } from "vitest";

import { createClients } from "../src/clients.ts";
import { ensureSecret, insertWebhook } from "../src/store/webhooks.ts";
import { startWebhookSubscription } from "../src/webhooks/subscription.ts";
import { anyProject, startExports } from "./deps.ts";

const exports = await startExports();
afterAll(() => exports[Symbol.asyncDispose]());
const { db } = exports;
const GROUP = "export-webhooks";

test("reads events after the last webhook was deleted, also in a new process, and none before the first", async () => {
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const bus = await createPgEventBus({ url: db.url, onError });
  await using parts = new AsyncDisposableStack();
  parts.defer(() => bus.close(1_000));
  const none = createDirectTransport([]);
  const clients = createClients({ validation: none, campaign: none, voucher: none, loyalty: none });
  const start = () =>
    startWebhookSubscription({
      db,
      bus,
      clients,
      findProject: anyProject,
      onStored: () => {},
      onError,
    });
  const publish = () =>
    bus.publish([
      {
        projectId: newId("proj"),
        id: newId("event"),
        topic: "scrip.vouchers.v1",
        type: "scrip.events.v1.VoucherPurged",
        key: "v_1",
        payload: new Uint8Array(),
        headers: {},
        occurredAt: new Date(),
      },
    ]);
  const groups = async () => [...((await bus.delays?.()) ?? new Map<string, number>()).keys()];
  const isRead = () => expect.poll(() => bus.lag(GROUP), { timeout: 20_000 }).toEqual([]);

  const first = start();
  await publish();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await groups()).toEqual([]);
  const projectId = newId("proj");
  await ensureSecret(db, projectId, "secret");
  await insertWebhook(db, projectId, {
    id: newId("wh"),
    target_url: "https://shop.example/",
    events: ["voucher.published"],
    headers: {},
    active: true,
    created_at: new Date(),
  });
  await expect.poll(groups, { timeout: 20_000 }).toEqual([GROUP]);
  await isRead();
  await first[Symbol.asyncDispose]();
  await db.query("delete from webhook");
  await publish();
  expect(await bus.lag(GROUP)).toHaveLength(1);
  parts.use(start());
  await isRead();
  expect(errors).toEqual([]);
});

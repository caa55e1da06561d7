import { newId } from "@scrip/ids";
import { createMetrics } from "@scrip/telemetry";
import { afterAll, beforeEach, expect, test } from "vitest";

import { createExportMetrics } from "../src/monitoring/export-metrics.ts";
import { claimDeliveries } from "../src/store/webhook-claims.ts";
import {
  insertDeliveries,
  type NewDelivery,
  storeAttempt,
  trimDeliveries,
} from "../src/store/webhook-deliveries.ts";
import { ensureSecret, insertWebhook } from "../src/store/webhooks.ts";
import { startDeliveryWorker } from "../src/webhooks/delivery-worker.ts";
import type { WebhookSender } from "../src/webhooks/send-request.ts";
import { DEFAULT_WEBHOOK_SETTINGS } from "../src/webhooks/webhook-settings.ts";
import { newCall } from "./builders.ts";
import { startExports } from "./deps.ts";

const exports = await startExports();
afterAll(() => exports[Symbol.asyncDispose]());
const { db } = exports;
// Workers of a test send only what it stored.
beforeEach(() => db.query("delete from webhook"));

const NOON = Date.parse("2026-03-01T12:00:00Z");

type Hook = { readonly projectId: string; readonly webhookId: string };

const hookOf = (id: string, targetUrl: string) => ({
  id,
  target_url: targetUrl,
  events: ["voucher.published"],
  headers: {},
  active: true,
  created_at: new Date(),
});

async function createHook(targetUrl = "https://shop.example/"): Promise<Hook> {
  const projectId = newId("proj");
  const id = newId("wh");
  await ensureSecret(db, projectId, "secret");
  await insertWebhook(db, projectId, hookOf(id, targetUrl));
  return { projectId, webhookId: id };
}

const deliveryOf = (hook: Hook, eventId = newId("event"), aggregateId = "v_1"): NewDelivery => ({
  ...hook,
  id: newId("whs"),
  type: "voucher.published",
  eventId,
  aggregateId,
  createdAt: new Date(),
  isBulk: false,
  bodyOf: (sequence) => JSON.stringify({ sequence: Number(sequence) }),
});

const store = (...deliveries: readonly NewDelivery[]): Promise<void> =>
  db.transaction((tx) => insertDeliveries(tx, deliveries));

async function rowsOf({ projectId, webhookId }: Hook) {
  const { rows } = await db.query<{
    status: string;
    sequence: bigint;
    attempts: number;
    failed_attempts: number;
    error: string | null;
  }>(
    `select status, sequence, attempts, failed_attempts, error from webhook_delivery
      where project_id = $1 and webhook_id = $2 order by sequence`,
    [projectId, webhookId],
  );
  return rows;
}

async function isActive({ projectId, webhookId }: Hook): Promise<boolean> {
  const { rows } = await db.query<{ active: boolean }>(
    "select active from webhook where project_id = $1 and id = $2",
    [projectId, webhookId],
  );
  return rows[0]?.active === true;
}

const startWorker = (sender: WebhookSender) =>
  startDeliveryWorker({
    db,
    sender,
    settings: DEFAULT_WEBHOOK_SETTINGS,
    onError: ({ message }) => expect.unreachable(message),
  });

/** A sender with this result, which counts its requests. */
function senderOf(error: string | null) {
  const sent: string[] = [];
  const sender: WebhookSender = {
    send: async ({ body }) => {
      sent.push(body);
      return { responseStatus: error === null ? 200 : 500, error, durationMs: 1 };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  return { sent, sender };
}

test("manages webhooks, their secret and their log", async () => {
  const call = newCall();
  const { webhooks } = exports;
  const created = await webhooks.createWebhook(
    { targetUrl: "https://shop.example/", events: ["voucher.published", "voucher.published"] },
    call,
  );
  expect(created).toMatchObject({ active: true, events: ["voucher.published"] });
  const ref = { webhookId: created.id };
  expect(await webhooks.getWebhook(ref, call)).toEqual(created);
  const changed = await webhooks.updateWebhook({ ...ref, active: false }, call);
  expect(changed).toMatchObject({ active: false, targetUrl: created.targetUrl });
  expect((await webhooks.listWebhooks({}, call)).data).toEqual([changed]);
  const { secret } = await webhooks.getWebhookSecret({}, call);
  expect(await webhooks.getWebhookSecret({}, call)).toMatchObject({ secret });
  expect((await webhooks.regenerateWebhookSecret({}, call)).secret).not.toBe(secret);

  const hook = { projectId: call.project.id, webhookId: created.id };
  await store(deliveryOf(hook), deliveryOf(hook), deliveryOf(hook));
  const page = await webhooks.listWebhookDeliveries({ ...ref, limit: 2n }, call);
  expect(page).toMatchObject({ hasMore: true, moreStartingAfter: page.data[1]?.id });
  const rest = await webhooks.listWebhookDeliveries(
    { ...ref, startingAfterId: page.moreStartingAfter ?? "", status: "PENDING" },
    call,
  );
  expect(rest.data).toMatchObject([{ sequence: 1n, status: "PENDING" }]);
  const deliveryId = rest.data[0]?.id ?? "";
  expect(await webhooks.getWebhookDelivery({ ...ref, deliveryId }, call)).toMatchObject({
    body: '{"sequence":1}',
  });
  expect(await webhooks.replayWebhook({ ...ref, since: { seconds: 0n } }, call)).toMatchObject({
    replayed: 3n,
    hasMore: false,
  });
  await webhooks.deleteWebhook(ref, call);
  await expect(webhooks.getWebhook(ref, call)).rejects.toMatchObject({ key: "not_found" });
});

test("rejects private targets by default, and the 101st webhook of a project", async () => {
  const call = newCall();
  const create = (targetUrl: string) =>
    exports.webhooks.createWebhook({ targetUrl, events: ["voucher.published"] }, call);
  for (const url of ["http://shop.example/", "https://169.254.169.254/", "https://localhost/"])
    await expect(create(url)).rejects.toMatchObject({ key: "invalid_payload" });
  const known = Array.from({ length: 95 }, () => newId("wh"));
  for (const id of known)
    await insertWebhook(db, call.project.id, hookOf(id, "https://shop.example/"));
  const created = await Promise.allSettled(
    Array.from({ length: 10 }, () => create("https://shop.example/")),
  );
  expect(created.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
});

test("numbers concurrent and repeated events of an aggregate without gaps", async () => {
  const hook = await createHook();
  const events = Array.from({ length: 40 }, () => newId("event"));
  const batches = Array.from({ length: 12 }, (_, index) =>
    events.slice(index * 3, index * 3 + 7).map((event) => deliveryOf(hook, event)),
  );
  await Promise.all(batches.map((batch) => store(...batch)));
  await store(...events.map((event) => deliveryOf(hook, event)));
  const rows = await rowsOf(hook);
  expect(rows.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => BigInt(index + 1)));
});

test("claims deliveries of bulk work behind others, which leave one place in four to them", async () => {
  const hook = await createHook();
  const bulk = (aggregate: string) => ({
    ...deliveryOf(hook, undefined, aggregate),
    isBulk: true,
    bodyOf: () => `bulk ${aggregate}`,
  });
  const ordinary = (aggregate: string) => ({
    ...deliveryOf(hook, undefined, aggregate),
    bodyOf: () => `ordinary ${aggregate}`,
  });
  const numbers = Array.from({ length: 12 }, (_, number) => `${number}`);
  await store(...numbers.map((number) => bulk(`v_${number}`)));
  const claim = { webhooks: 10, perWebhook: 4, busy: [], leaseMs: 60_000 };
  const claimed = async () => (await claimDeliveries(db, claim)).map(({ body }) => body).toSorted();
  expect(await claimed()).toEqual(["bulk v_0", "bulk v_1", "bulk v_2", "bulk v_3"]);
  await store(...["a", "b", "c", "d", "e"].map(ordinary));
  expect(await claimed()).toEqual(["bulk v_4", "ordinary a", "ordinary b", "ordinary c"]);
  expect(await claimed()).toEqual(["bulk v_5", "bulk v_6", "ordinary d", "ordinary e"]);
  // What came before in the same aggregate does not wait either.
  await store(ordinary("v_11"));
  expect(await claimed()).toEqual(["bulk v_11", "bulk v_7", "bulk v_8", "ordinary v_11"]);
});

test("claims replayed deliveries behind new ones, and in front of a new one of the same aggregate", async () => {
  const hook = await createHook();
  const named = (aggregate: string, body: string) => ({
    ...deliveryOf(hook, undefined, aggregate),
    bodyOf: () => body,
  });
  const claimed = async () => {
    const claim = { webhooks: 1, perWebhook: 4, busy: [], leaseMs: 60_000 };
    return (await claimDeliveries(db, claim)).map(({ body }) => body).toSorted();
  };
  await store(...["a", "b", "c", "d"].map((aggregate) => named(aggregate, `old ${aggregate}`)));
  expect(await claimed()).toEqual(["old a", "old b", "old c", "old d"]);
  const call = newCall({ project: { ...newCall().project, id: hook.projectId } });
  const replay = { webhookId: hook.webhookId, since: { seconds: 0n } };
  expect(await exports.webhooks.replayWebhook(replay, call)).toMatchObject({ replayed: 4n });
  await store(...["e", "f", "g"].map((aggregate) => named(aggregate, `new ${aggregate}`)));
  await store(named("d", "new d"));
  // The earlier delivery of "d" is no longer bulk work; of the other replayed ones, one has a place.
  expect(await claimed()).toEqual([
    "new e",
    "new f",
    expect.stringMatching(/^old [abc]$/),
    "old d",
  ]);
  const rest = [expect.stringMatching(/^old/), expect.stringMatching(/^old/)];
  expect(await claimed()).toEqual(["new d", "new g", ...rest]);
});

test("stores failed attempts of bulk work beside later deliveries of the same aggregates", async () => {
  const hook = await createHook();
  const aggregates = Array.from({ length: 40 }, (_, number) => `v_${number}`);
  const bulk = aggregates.map((each) => ({ ...deliveryOf(hook, undefined, each), isBulk: true }));
  await store(...bulk);
  const claim = { webhooks: 1, perWebhook: aggregates.length, busy: [], leaseMs: 60_000 };
  const claimed = await claimDeliveries(db, claim);
  expect(claimed).toHaveLength(aggregates.length);
  const failure = { responseStatus: 500, error: "status 500", durationMs: 1 };
  await Promise.all(
    claimed.flatMap((delivery, index) => [
      storeAttempt(db, delivery, failure, 60_000),
      store(deliveryOf(hook, undefined, aggregates.at(-1 - index))),
    ]),
  );
  const rows = await rowsOf(hook);
  expect(rows.filter(({ failed_attempts: failed }) => failed === 1)).toHaveLength(40);
  expect(rows.filter(({ sequence }) => sequence === 2n)).toHaveLength(40);
});

test("advances all earlier deliveries of bulk work for an aggregate, however many wait", async () => {
  const hook = await createHook();
  const bulk = Array.from({ length: 250 }, () => ({ ...deliveryOf(hook), isBulk: true }));
  await store(...bulk);
  await store(deliveryOf(hook));
  const waiting = "select from webhook_delivery where webhook_id = $1 and bulk";
  expect((await db.query(waiting, [hook.webhookId])).rows).toEqual([]);
});

test("does not store deliveries of a deleted webhook", async () => {
  const hook = await createHook();
  await db.query("delete from webhook where id = $1", [hook.webhookId]);
  await store(deliveryOf(hook));
  expect(await rowsOf(hook)).toEqual([]);
});

test("sends deliveries again that an ended process had claimed, each once", async () => {
  const hook = await createHook();
  await store(deliveryOf(hook));
  // A process that ends during its request.
  const claim = { webhooks: 10, perWebhook: 10, busy: [], leaseMs: 600 };
  expect(await claimDeliveries(db, claim)).toHaveLength(1);
  expect(await claimDeliveries(db, claim)).toEqual([]);
  const { sent, sender } = senderOf(null);
  await using worker = startWorker(sender);
  worker.wake();
  expect(sent).toEqual([]);
  await expect
    .poll(() => rowsOf(hook), { timeout: 15_000 })
    .toMatchObject([{ status: "SUCCEEDED", attempts: 2 }]);
  expect(sent).toEqual(['{"sequence":1}']);
});

test("counts attempts by outcome, and reports the deliveries that are due", async () => {
  const metrics = createMetrics({ withProcess: false });
  const { countDelivery } = createExportMetrics(metrics, db);
  const [good, bad] = [await createHook(), await createHook("https://bad.example/")];
  await store(deliveryOf(good), deliveryOf(good), deliveryOf(bad));
  await db.query("update webhook set due_at = due_at - interval '90 s'");
  await db.query("update webhook_delivery set next_attempt_at = now() - interval '90 s'");
  const text = await metrics.text();
  expect(text).toContain("webhook_deliveries_waiting 3");
  expect(text).toMatch(/webhook_deliveries_oldest_seconds 9\d/);
  expect(text).toContain("jobs_waiting 0");
  const { sender } = senderOf(null);
  await using worker = startDeliveryWorker({
    db,
    sender: {
      ...sender,
      send: async (request) => ({
        responseStatus: null,
        error: request.url.includes("bad") ? "timeout" : null,
        durationMs: 1,
      }),
    },
    settings: DEFAULT_WEBHOOK_SETTINGS,
    onAttempt: countDelivery,
    onError: ({ message }) => expect.unreachable(message),
  });
  worker.wake();
  const figures = [
    'webhook_deliveries_total{outcome="succeeded"} 2',
    'webhook_deliveries_total{outcome="repeated"} 1',
    "webhook_deliveries_waiting 0",
  ];
  await expect
    .poll(async () => (await metrics.text()).split("\n"), { timeout: 10_000 })
    .toEqual(expect.arrayContaining(figures));
});

test("shows a gap while a delivery fails, and replays from any point", async () => {
  const hook = await createHook();
  const deliveries = [0, 1, 2].map((index) => ({
    ...deliveryOf(hook),
    createdAt: new Date(NOON + index * 1_000),
  }));
  await store(...deliveries);
  const sent: number[] = [];
  let failing: number | undefined = 2;
  await using worker = startWorker({
    send: async ({ body }) => {
      const { sequence } = JSON.parse(body) as { sequence: number };
      const failed = sequence === failing;
      if (!failed) sent.push(sequence);
      return { responseStatus: 200, error: failed ? "status 500" : null, durationMs: 1 };
    },
    [Symbol.asyncDispose]: async () => {},
  });
  worker.wake();
  await expect
    .poll(async () => (await rowsOf(hook)).map((row) => `${row.status} ${row.failed_attempts}`), {
      timeout: 15_000,
    })
    .toEqual(["SUCCEEDED 0", "PENDING 1", "SUCCEEDED 0"]);
  expect(new Set(sent)).toEqual(new Set([1, 3]));

  failing = undefined;
  const call = newCall({
    project: { id: hook.projectId, timeZone: "UTC", caseSensitiveCodes: true },
  });
  const since = { seconds: BigInt(NOON / 1_000 + 1) };
  const replay = { webhookId: hook.webhookId, since };
  expect(await exports.webhooks.replayWebhook(replay, call)).toMatchObject({ replayed: 2n });
  worker.wake();
  await expect.poll(() => sent.length, { timeout: 15_000 }).toBe(4);
  expect(new Set(sent.slice(2))).toEqual(new Set([2, 3]));
});

test("deactivates a webhook after 13 failed attempts", async () => {
  const hook = await createHook();
  await store(deliveryOf(hook));
  const { sent, sender } = senderOf("status 500");
  await using worker = startWorker(sender);
  for (let attempt = 1; attempt <= 13; attempt += 1) {
    worker.wake();
    await expect
      .poll(async () => (await rowsOf(hook))[0])
      .toMatchObject({
        failed_attempts: attempt,
        error: "status 500",
      });
    expect(await isActive(hook)).toBe(attempt < 13);
    await db.query(
      `update webhook_delivery set next_attempt_at = now()
        where webhook_id = $1 and status = 'PENDING'`,
      [hook.webhookId],
    );
    await db.query("update webhook set due_at = now() where id = $1", [hook.webhookId]);
  }
  expect(await rowsOf(hook)).toMatchObject([{ status: "FAILED" }]);
  expect(sent).toHaveLength(13);
});

test("deletes deliveries that are older than the log", async () => {
  const hook = await createHook();
  await store(deliveryOf(hook), { ...deliveryOf(hook), createdAt: new Date(0) });
  await trimDeliveries(db, 30 * 86_400_000);
  expect(await rowsOf(hook)).toHaveLength(1);
});

import { createHmac } from "node:crypto";

import { afterAll, describe, expect, test, vi } from "vitest";

import { inParallel, type Json, managementApi, newCode, newProject } from "../stack/api.ts";
import { errorOf, ok, ruleBuilders } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";
import { startWebhookReceiver } from "../stack/webhook-receiver.ts";

const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());

const ALL = [
  "voucher.published",
  "publication.succeeded",
  "redemption.succeeded",
  "redemption.rollback.succeeded",
  "voucher.gift.balance_added",
  "voucher.deleted",
  "customer.order.paid",
];

const UPGRADED = "customer.loyalty.tier.upgraded";

describe.each(COMPOSITIONS)("webhooks (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const management = managementApi(stack);
  const { id: projectId, api } = await newProject(stack);
  const { createVoucher } = ruleBuilders(api);
  const hooks = `/management/v1/projects/${projectId}/webhooks`;

  const createHook = (path: string, body: Json = {}): Promise<Json> =>
    ok(management.post(hooks, { target_url: receiver.urlOf(path), events: ALL, ...body }));
  const deliveriesOf = async (hook: Json, query = ""): Promise<Json[]> =>
    (await ok(management.get(`${hooks}/${hook["id"]}/deliveries?limit=100${query}`)))["data"];
  const gift = (): Promise<Json> =>
    createVoucher({ type: "GIFT_VOUCHER", discount: undefined, gift: { amount: 10_000 } });

  test("sends each event once, signed, numbered per voucher, with the resource", async () => {
    const path = newCode("all");
    const hook = await createHook(path, { headers: { "X-Shop": "toys" } });
    const { secret } = await ok(
      management.get(`/management/v1/projects/${projectId}/webhook-secret`),
    );
    const { code, id: voucherId } = await gift();
    await ok(
      api.post("/v1/publications", { customer: { source_id: newCode("c") }, voucher: code }),
    );
    const order = { amount: 5_000, status: "PAID" };
    const redeemed = await ok(api.post(`/v1/vouchers/${code}/redemption`, { order }));
    await ok(api.post(`/v1/redemptions/${redeemed["id"]}/rollback`));
    await ok(api.post(`/v1/vouchers/${code}/balance`, { amount: 500 }));
    await api.delete(`/v1/vouchers/${code}?force=true`);

    const received = await vi.waitFor(() => expectCount(path, 7), {
      timeout: 30_000,
      interval: 100,
    });
    const bodies = received.map(({ body }) => JSON.parse(body));
    expect(new Set(bodies.map((body) => body.type))).toEqual(new Set(ALL));
    for (const { headers, body } of received) {
      const signature = createHmac("sha256", secret).update(body).digest("hex");
      expect(headers).toMatchObject({
        "x-webhook-signature": signature,
        "content-type": "application/json",
        "x-shop": "toys",
      });
    }
    const ofVoucher = bodies
      .filter(({ event }) => event.aggregate_id === voucherId)
      .toSorted((a, b) => a.event.sequence - b.event.sequence);
    expect(ofVoucher.map(({ event }) => event.sequence)).toEqual([1, 2, 3, 4, 5, 6]);
    const redemption = ofVoucher.find(({ type }) => type === "redemption.succeeded");
    expect(redemption).toEqual({
      id: expect.stringMatching(/^whs_/),
      project_id: projectId,
      created_at: expect.stringMatching(/Z$/),
      type: "redemption.succeeded",
      data: { redemption: expect.objectContaining({ id: redeemed["id"], object: "redemption" }) },
      source: {
        object: "webhook",
        webhook: { id: hook["id"], target_url: receiver.urlOf(path) },
      },
      event: {
        id: expect.any(String),
        type: "redemption.succeeded",
        created_at: expect.stringMatching(/Z$/),
        entity_id: redeemed["id"],
        aggregate_id: voucherId,
        sequence: expect.any(Number),
        group_id: expect.stringMatching(/^v-/),
        event_source: {
          channel: "API",
          user: null,
          api_key: { name: expect.any(String), app_id: api.headers["x-app-id"] },
        },
      },
    });
    const log = await vi.waitFor(async () => {
      const succeeded = await deliveriesOf(hook, "&status=SUCCEEDED");
      expect(succeeded).toHaveLength(7);
      return succeeded;
    });
    expect(log[0]).toMatchObject({
      object: "webhook_delivery",
      webhook_id: hook["id"],
      attempts: 1,
      response_status: 200,
      error: null,
      next_attempt_at: null,
    });
    const single = await ok(management.get(`${hooks}/${hook["id"]}/deliveries/${log[0]?.["id"]}`));
    expect(received.map(({ body }) => body)).toContain(single["body"]);
  });

  test("repeats a failed delivery later with the same body, and immediately when it is replayed", async () => {
    const path = newCode("fail");
    receiver.respond(path, (response) => void response.writeHead(500).end());
    const hook = await createHook(path, { events: ["voucher.published"] });
    const { code } = await createVoucher();
    await ok(
      api.post("/v1/publications", { customer: { source_id: newCode("c") }, voucher: code }),
    );
    const failed = await vi.waitFor(
      async () => {
        const [delivery] = await deliveriesOf(hook);
        expect(delivery).toMatchObject({ attempts: 1, response_status: 500, error: "status 500" });
        return delivery as Json;
      },
      { timeout: 40_000, interval: 100 },
    );
    const pause = Date.parse(failed["next_attempt_at"]) - Date.parse(failed["last_attempt_at"]);
    expect(pause).toBe(60_000);
    receiver.respond(path, (response) => void response.writeHead(204).end());
    const replayed = await ok(
      management.post(`${hooks}/${hook["id"]}/replay`, { since: failed["created_at"] }),
    );
    expect(replayed).toEqual({ replayed: 1, has_more: false });
    const [first, second] = await vi.waitFor(() => expectCount(path, 2), { timeout: 30_000 });
    expect(second?.body).toBe(first?.body);
    await vi.waitFor(async () => {
      expect(await deliveriesOf(hook)).toMatchObject([{ status: "SUCCEEDED", attempts: 2 }]);
    });
  });

  test("sends failed redemptions, also those without a customer", async () => {
    const path = newCode("failed");
    await createHook(path, { events: ["redemption.failed"] });
    const { code } = await createVoucher({ active: false });
    const customers = [undefined, { source_id: newCode("c") }];
    const failed: string[] = [];
    for (const customer of customers) {
      const { body } = await api.post(`/v1/vouchers/${code}/redemption`, { customer });
      expect(body["key"]).toBe("voucher_disabled");
      failed.push(body["resource_id"]);
    }
    const received = await vi.waitFor(() => expectCount(path, 2), { timeout: 30_000 });
    const ids = received.map(({ body }) => JSON.parse(body).data.redemption.id as string);
    expect(new Set(ids)).toEqual(new Set(failed));
  });

  test("a receiver that does not respond does not delay another one", async () => {
    const [stuck, quick] = [newCode("stuck"), newCode("quick")];
    receiver.respond(stuck, () => {});
    const events = ["voucher.published"];
    await Promise.all([createHook(stuck, { events }), createHook(quick, { events })]);
    const publish = async (): Promise<void> => {
      const { code } = await createVoucher();
      const customer = { source_id: newCode("c") };
      await ok(api.post("/v1/publications", { customer, voucher: code }));
    };
    await inParallel(Array.from({ length: 30 }), 4, publish);
    await vi.waitFor(() => expectCount(quick, 30), { timeout: 60_000, interval: 100 });
    expect(receiver.of(stuck).length).toBeLessThan(30);
  });

  test("counts a redirect as a failure, and can be changed and deleted", async () => {
    const path = newCode("pause");
    receiver.respond(path, (response) => void response.writeHead(302, { location: "/" }).end());
    const hook = await createHook(path, { events: ["voucher.published"] });
    const { code } = await createVoucher();
    await ok(
      api.post("/v1/publications", { customer: { source_id: newCode("c") }, voucher: code }),
    );
    // A redirect is a failure.
    await vi.waitFor(() => expectCount(path, 1), { timeout: 40_000 });
    const changed = await ok(
      management.put(`${hooks}/${hook["id"]}`, { active: false, events: ["customer.deleted"] }),
    );
    expect(changed).toMatchObject({ active: false, events: ["customer.deleted"] });
    expect((await ok(management.get(hooks)))["data"][0]).toMatchObject({ id: hook["id"] });
    expect((await management.delete(`${hooks}/${hook["id"]}`)).status).toBe(204);
    expect(await errorOf(management.get(`${hooks}/${hook["id"]}`))).toEqual([
      404,
      "not_found",
      "webhook",
    ]);
    expect((await management.get(`${hooks}/${hook["id"]}/deliveries`)).status).toBe(404);
  });

  test.each([
    [{ events: [] }, "events"],
    [{ events: ["voucher.exploded"] }, ".events[0] is not the name of an event"],
    [{ target_url: "shop.example" }, ".target_url must be a URL"],
    [{ target_url: "ftp://shop.example" }, ".target_url must be an https URL"],
    [{ headers: { Host: "x" } }, ".headers.Host is set by Scrip"],
    [{ target_url: undefined }, "target_url"],
  ])("rejects %j", async (body, details) => {
    const response = await management.post(hooks, {
      target_url: receiver.urlOf("x"),
      events: ALL,
      ...body,
    });
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({
      key: "invalid_payload",
      details: expect.stringContaining(details),
    });
  });

  test("corrects names that other systems misspell", async () => {
    const { events } = await createHook(newCode("x"), {
      events: ["campaign.vouchers.aded", "voucher.gift.balance_aded", UPGRADED],
      active: false,
    });
    expect(events).toEqual(["campaign.vouchers.added", "voucher.gift.balance_added", UPGRADED]);
  });

  test("reports who enters and leaves a segment", async () => {
    const path = newCode("segment");
    await createHook(path, { events: ["customer.segment.entered", "customer.segment.left"] });
    const filter = { "metadata.level": { conditions: { $is: ["gold"] } } };
    const segment = { name: "Gold", type: "auto-update", filter };
    const { id, name } = await ok(api.post("/v1/segments", segment));
    await vi.waitFor(
      async () =>
        expect(await ok(api.get(`/v1/segments/${id}`))).toMatchObject({
          initial_sync_status: "DONE",
        }),
      { timeout: 60_000, interval: 100 },
    );
    const customer = { source_id: newCode("c") };
    for (const [count, level] of ["gold", "plain"].entries()) {
      await ok(api.post("/v1/customers", { ...customer, metadata: { level } }));
      await vi.waitFor(() => expectCount(path, count + 1), { timeout: 60_000, interval: 100 });
    }
    expect(receiver.of(path).map(({ body }) => JSON.parse(body))).toMatchObject(
      ["entered", "left"].map((change) => ({
        type: `customer.segment.${change}`,
        data: { customer, segment: { id, name } },
      })),
    );
  });

  test("replaces the secret", async () => {
    const path = `/management/v1/projects/${projectId}/webhook-secret`;
    const { secret } = await ok(management.get(path));
    const { secret: fresh } = await ok(management.post(`${path}/regenerate`));
    expect(fresh).not.toBe(secret);
    expect(await ok(management.get(path))).toMatchObject({ secret: fresh });
  });
});

function expectCount(path: string, count: number) {
  const received = receiver.of(path);
  expect(received).toHaveLength(count);
  return received;
}

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, describe, expect, test } from "vitest";

import { type Api, type Json, managementApi, newCode, newProject } from "../stack/api.ts";
import { outputOf } from "../stack/compositions.ts";
import { tablesWithText } from "../stack/find-text.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

/** Read files of imports are deleted within a minute. Each attempt searches all tables. */
const ERASED = { timeout: 110_000, interval: 3_000 };

const LONG = { timeout: 300_000 };

const receiver = createServer((request, response) => {
  request.resume().once("end", () => response.end());
}).listen(0, "127.0.0.1");
await once(receiver, "listening");
afterAll(() => receiver.close());
const RECEIVER_URL = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

describe.each(COMPOSITIONS)("permanent deletion (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const management = managementApi(stack);

  test("erases a customer from all tables, files and logs, and keeps the books", LONG, async () => {
    const { id: projectId, api } = await newProject(stack);
    await ok(
      management.post(`/management/v1/projects/${projectId}/webhooks`, {
        target_url: RECEIVER_URL,
        events: WEBHOOK_EVENTS,
      }),
    );
    const [ada, bob] = [personOf(newCode("ada")), personOf(newCode("bob"))];
    const lives = [await live(api, ada), await live(api, bob)] as const;
    const exportLinks = await exportAll(api);
    const find = (text: string, only?: readonly string[]) =>
      tablesWithText(stack.databaseUrl, { projectId, text, only });
    // The search finds the copies.
    for (const { mark } of [ada, bob])
      await expect.poll(() => find(mark, COPIES), ERASED).toEqual(COPIES);
    for (const link of exportLinks) expect(await statusOf(stack.url, link)).toBe(200);

    const [{ customerId, gift, redemptionId, request }] = lives;
    const deletion = await api.post(
      `/v1/customers/${customerId}/permanent-deletion`,
      {},
      { "idempotency-key": "deletion" },
    );
    expect(deletion.status, deletion.text).toBe(200);

    // Events are dropped with their partition of the outbox.
    const withoutEvents = async (text: string): Promise<readonly string[]> =>
      (await find(text)).filter((table) => !table.endsWith(".outbox"));
    let left = await withoutEvents(ada.mark);
    const findLeft = async () => (left = await find(ada.mark, left));
    await expect.poll(findLeft, ERASED).toEqual([]);
    await expect.poll(() => withoutEvents(ada.mark), ERASED).toEqual([]);
    await expect.poll(() => statusOf(stack.url, exportLinks[0]), ERASED).toBe(404);
    for (const link of exportLinks) expect(await statusOf(stack.url, link)).toBe(404);
    expect(outputOf(stack)).not.toContain(ada.mark);
    const kept = COPIES.filter((table) => !table.startsWith("export.job"));
    expect(await find(bob.mark, kept)).toEqual(kept);

    // Repetitions do not create the customer again.
    const repeated = await api.post(...request);
    expect([repeated.status, repeated.body["key"]]).toEqual([404, "not_found"]);
    const again = await api.post(
      `/v1/customers/${customerId}/permanent-deletion`,
      {},
      { "idempotency-key": "deletion" },
    );
    expect(again.body).toEqual(deletion.body);

    expect(await ok(api.get(`/v1/redemptions/${redemptionId}`))).toMatchObject({
      customer_id: null,
      amount: 300,
    });
    expect(await ok(api.get(`/v1/vouchers/${gift}`))).toMatchObject({
      holder_id: null,
      gift: { amount: 10_000, balance: 9_700 },
    });
    expect(await invariantViolations(stack, projectId)).toEqual([]);
  });
});

const WEBHOOK_EVENTS = [
  "customer.created",
  "customer.updated",
  "customer.deleted",
  "customer.order.created",
  "customer.order.paid",
  "redemption.succeeded",
  "redemption.failed",
  "redemption.rollback.succeeded",
  "publication.succeeded",
];

/** Tables that contain data of a customer before the deletion. */
const COPIES = [
  "export.job",
  "export.job_report",
  "export.webhook_delivery",
  "gateway.idempotency",
  "loyalty.custom_event",
  "loyalty.customer",
  "loyalty.outbox",
  "loyalty.stored_request",
  "validation.shop_order",
  "validation.stored_request",
  "voucher.redemption",
  "voucher.redemption_rollback",
  "voucher.stored_request",
];

/** A customer with a text of their own in each field. */
const personOf = (mark: string) => ({
  mark,
  profile: {
    source_id: `source-${mark}`,
    name: `Name ${mark}`,
    email: `${mark}@example.com`,
    phone: `+48 ${mark}`,
    description: `Describes ${mark}`,
    address: { city: `City ${mark}`, line_1: `1 ${mark} street`, postal_code: "61-772" },
    metadata: { nickname: mark },
  },
});

type Person = ReturnType<typeof personOf>;

/** Does with a customer what leaves copies of their data. */
async function live(api: Api, { mark, profile }: Person) {
  const key = (name: string) => ({ "idempotency-key": `${name}-${mark}` });
  const customer = profile;
  const request = ["/v1/customers", profile, key("customer")] as const;
  const { id: customerId } = await ok(api.post(...request));
  const gift = await giftCard(api);
  await ok(api.post("/v1/publications", { customer, voucher: gift }, key("publication")));
  const order = {
    amount: 5_000,
    status: "PAID",
    metadata: { note: mark },
    items: [{ product_id: "p", quantity: 1, price: 5_000 }],
  };
  await ok(api.post("/v1/orders", { ...order, customer }, key("order")));
  const redeemables = [{ object: "voucher", id: gift }];
  // Its response names the customer by the tracking id only.
  const cart = { customer, redeemables, order: { amount: 5_000 } };
  await ok(api.post("/v1/validations", cart, key("validation")));
  const redeem = (credits: number): Promise<Json> =>
    ok(
      api.post(
        `/v1/vouchers/${gift}/redemption`,
        { customer, order, gift: { credits } },
        key(`redemption-${credits}`),
      ),
    );
  const { id: redemptionId } = await redeem(300);
  const { id: takenBack } = await redeem(200);
  await ok(api.post(`/v1/redemptions/${takenBack}/rollback`, { customer }, key("rollback")));
  const failed = await api.post(
    `/v1/vouchers/${gift}/redemption`,
    { customer, order, gift: { credits: 1_000_000 } },
    key("failure"),
  );
  expect(failed.status, failed.text).toBe(400);
  const program = await createLoyaltyProgram(api);
  await program.createCard(customer);
  await ok(api.post("/v1/segments", { name: "Some", type: "static", customers: [customerId] }));
  const seen = { event: "seen", customer, metadata: { where: mark } };
  await ok(api.post("/v1/events", seen, key("event")));
  await ok(api.put(`/v1/customers/${customerId}`, { description: `Changed ${mark}` }));
  const { metadata } = profile;
  const bulk = { source_ids: [profile.source_id], metadata };
  for (const [path, body] of [
    ["/v1/customers/bulk/async", [profile]],
    ["/v1/customers/metadata/async", bulk],
  ] as const) {
    const started = await api.post(path, body);
    expect(started.status, started.text).toBe(202);
    const action = `/v1/async-actions/${started.body["async_action_id"]}`;
    await expect.poll(async () => (await ok(api.get(action)))["status"]).toBe("DONE");
  }
  return { customerId, gift, redemptionId, request };
}

const giftCard = async (api: Api): Promise<string> =>
  (await ok(api.post("/v1/vouchers", { type: "GIFT_VOUCHER", gift: { amount: 10_000 } })))["code"];

/** Exports everything with data of customers; returns the links of the files. */
function exportAll(api: Api): Promise<readonly string[]> {
  const objects = ["customer", "order", "publication", "redemption", "voucher"];
  return Promise.all(
    objects.map(async (object) => {
      const { id } = await ok(api.post("/v1/exports", { exported_object: object }));
      const get = () => ok(api.get(`/v1/exports/${id}`));
      await expect.poll(async () => (await get())["status"]).toBe("DONE");
      return (await get())["result"].url;
    }),
  );
}

async function statusOf(baseUrl: string, link: string | undefined): Promise<number> {
  const { pathname, search } = new URL(link ?? "", baseUrl);
  const response = await fetch(baseUrl + pathname + search);
  await response.arrayBuffer();
  return response.status;
}

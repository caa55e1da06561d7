import { describe, expect, test } from "vitest";

import { type Api, type Json, newCode, serverApi } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("GET /v1/redemptions (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const buyer = newCode("buyer");
  const code = newCode("CODE");
  await api.post("/v1/vouchers", {
    code,
    type: "DISCOUNT_VOUCHER",
    discount: { type: "PERCENT", percent_off: 10 },
    redemption: { quantity: 2 },
  });
  const redeem = (body: Json = {}) => api.post(`/v1/vouchers/${code}/redemption`, body);
  const order = { amount: 1000 };
  const first = await redeem({
    customer: { source_id: buyer },
    order,
    metadata: { shop: "north" },
  });
  const second = await redeem({ order });
  const third = await redeem({ customer: { source_id: buyer }, order });
  const rollback = await api.post(`/v1/redemptions/${first.body["id"]}/rollback`, {
    reason: "mind",
  });
  const voucherId: string = second.body["related_object_id"];

  test("lists successes, failures and rollbacks, newest first", async () => {
    const list = await api.get("/v1/redemptions?limit=100");
    expect(list.status, list.text).toBe(200);
    expect(list.body).toMatchObject({ object: "list", data_ref: "redemptions", total: 4 });
    expect(idsIn(list.body)).toEqual([
      rollback.body["id"],
      third.body["resource_id"],
      second.body["id"],
      first.body["id"],
    ]);
    const [rollbackEntry, failed, , redeemed] = list.body["redemptions"] as Json[];
    expect(rollbackEntry).toMatchObject({
      object: "redemption_rollback",
      redemption: first.body["id"],
      reason: "mind",
    });
    expect(failed).toMatchObject({
      object: "redemption",
      result: "FAILURE",
      failure_code: "quantity_exceeded",
    });
    expect(redeemed).toMatchObject({
      object: "redemption",
      status: "ROLLED_BACK",
      related_redemptions: {
        rollbacks: [{ id: rollback.body["id"], rollback_order_mode: "WITH_ORDER" }],
      },
    });
    for (const entry of list.body["redemptions"] as Json[]) {
      expect((await api.get(`/v1/redemptions/${entry["id"]}`)).body).toEqual(entry);
    }
  });

  test.each([
    ["by customer", () => `customer=${buyer}`, () => [rollback, third, first]],
    ["by result", () => "result=Failure-quantity_exceeded", () => [third]],
    ["by a filter", () => "filters[metadata.shop][conditions][$is]=north", () => [rollback, first]],
    [
      "by code and status",
      () =>
        `filters[voucher_code][conditions][$is]=${code}&filters[status][conditions][$in][0]=ROLLED_BACK`,
      () => [first],
    ],
    [
      "by redeemed object",
      () => `filters[related_object_id][conditions][$is]=${voucherId}&limit=2`,
      () => [rollback, third],
    ],
    [
      "by type of the redeemed object",
      () => "filters[related_object_type][conditions][$is_not]=voucher",
      () => [],
    ],
    [
      "by rolled-back redemption",
      () => `filters[redemption][conditions][$is]=${first.body["id"]}`,
      () => [rollback],
    ],
    [
      "without a campaign",
      () => "filters[related_object_parent_id][conditions][$is_unknown]=true&limit=1",
      () => [rollback],
    ],
    ["created before a past date", () => "created_at[before]=2001-01-01T00:00:00.000Z", () => []],
    ["oldest first", () => "order=created_at&limit=1", () => [first]],
  ] as [string, () => string, () => { readonly body: Json }[]][])(
    "filters and sorts redemptions: %s",
    async (_name, query, expected) => {
      const list = await api.get(`/v1/redemptions?${query()}`);
      expect(list.status, list.text).toBe(200);
      expect(idsIn(list.body)).toEqual(
        expected().map(({ body }) => body["resource_id"] ?? body["id"]),
      );
    },
  );

  test.each([
    ["page=1001", "page_over_limit", "Property .page cannot be higher than 1000"],
    ["result=Maybe", "invalid_query_params", undefined],
    ["order=amount", "invalid_query_params", undefined],
    ["limit=101", "invalid_query_params", undefined],
  ])("rejects ?%s", async (query, key, details) => {
    const response = await api.get(`/v1/redemptions?${query}`);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ key, ...(details !== undefined && { details }) });
  });

  test("returns the stored explanation of each redemption", async () => {
    const why = await api.get(`/v1/redemptions/${second.body["id"]}/explanation`);
    expect(why.status, why.text).toBe(200);
    expect(why.body).toMatchObject({
      object: "redemption_explanation",
      redemption_id: second.body["id"],
      redeemables: [{ id: code, object: "voucher", explanation: { status: "APPLICABLE" } }],
    });
    expect(await statusOf(api, "/v1/redemptions/r_unknown/explanation")).toBe(404);
  });

  test("is reflected in the customer's summary", async () => {
    const summary = async () => {
      const { body } = await api.get(`/v1/customers/${buyer}`);
      return body["summary"].redemptions;
    };
    await expect
      .poll(summary, { timeout: 60_000 })
      .toMatchObject({ total_succeeded: 1, total_failed: 1, total_rollback_succeeded: 1 });
  });
});

const idsIn = (body: Json): unknown[] => (body["redemptions"] as Json[]).map((one) => one["id"]);

const statusOf = async (api: Api, path: string): Promise<number> => (await api.get(path)).status;

import { expect } from "vitest";

import { type ApiResponse, type Api, type Json, newCode } from "./api.ts";

export const TEN_PERCENT = { type: "PERCENT", percent_off: 10 };

/** Rules that require an order amount above this. */
export const orderAbove = (amount: number) => ({
  "1": { name: "order.amount", conditions: { $more_than: [amount] } },
  logic: "1",
});

export async function ok(request: Promise<ApiResponse>): Promise<Json> {
  const { status, text, body } = await request;
  expect(status, text).toBe(200);
  return body;
}

export async function errorOf(sent: Promise<ApiResponse>): Promise<unknown[]> {
  const { status, body } = await sent;
  return [status, body["key"], body["resource_type"] ?? body["details"]];
}

export const voucherBody = (body: Json = {}): Json => ({
  type: "DISCOUNT_VOUCHER",
  discount: TEN_PERCENT,
  ...body,
});

/** The ids of the validation rules assigned to a voucher, campaign or tier. */
export const rulesOf = (resource: Json): string[] =>
  resource["validation_rules_assignments"].data.map(({ rule_id: id }: Json) => id);

/** Creates validation rules and the resources that they are assigned to. */
export const ruleBuilders = (api: Api) => ({
  createRule: (rule: Json = {}): Promise<Json> =>
    ok(
      api.post("/v1/validation-rules", { name: "Big orders", rules: orderAbove(10_000), ...rule }),
    ),
  createVoucher: (body: Json = {}): Promise<Json> =>
    ok(api.post("/v1/vouchers", voucherBody(body))),
  createCampaign: (body: Json = {}): Promise<Json> =>
    ok(
      api.post("/v1/campaigns", {
        name: newCode("campaign"),
        campaign_type: "DISCOUNT_COUPONS",
        voucher: voucherBody(),
        ...body,
      }),
    ),
  assign: (rule: Json, type: string, id: string): Promise<ApiResponse> =>
    api.post(`/v1/validation-rules/${rule["id"]}/assignments`, {
      related_object_type: type,
      related_object_id: id,
    }),
});

import { describe, expect, test } from "vitest";

import {
  type Api,
  clientApi,
  type Json,
  enableClientRedemptions,
  newCode,
  serverApi,
} from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)(
  "responses of validations and redemptions (%s)",
  async (composition) => {
    const stack = await sharedStack(composition);
    const api = await serverApi(stack);
    const client = await clientApi(stack, "https://shop.example");
    await enableClientRedemptions(stack);

    test("include the order unless `expand` requests something else", async () => {
      const { code, campaign } = await createVoucher(api);
      const validateExpanding = async (...expand: string[]): Promise<Json> =>
        (await validate(api, code, { options: { expand } })).redeemables[0];

      for (const plain of [
        await validateExpanding(),
        await validateExpanding("order"),
        await validateExpanding("category"),
      ]) {
        expect(plain).toMatchObject({ order: { total_amount: 900 } });
        expect(plain).not.toHaveProperty("campaign_id");
      }
      const described = await validateExpanding("redeemable");
      expect(described).toMatchObject({
        metadata: { tier: "gold" },
        campaign_id: campaign["id"],
        campaign_name: campaign["name"],
      });
      expect(described).not.toHaveProperty("order");
      expect(await validateExpanding("redeemable", "order")).toMatchObject({
        order: { total_amount: 900 },
        campaign_id: campaign["id"],
      });
      expect(await validateExpanding("category")).toMatchObject({
        categories: [
          { object: "category", stacking_rules_type: "COMMON" },
          { object: "category", stacking_rules_type: "COMMON" },
        ],
      });
      expect(await validateExpanding()).not.toHaveProperty("categories");
    });

    test("list applicable_to and inapplicable_to for every redeemable, whatever its status", async () => {
      const ids = [
        (await createVoucher(api)).code,
        newCode("UNKNOWN"),
        (await createVoucher(api)).code,
      ];
      const response = await api.post("/v1/validations", {
        redeemables: ids.map((id) => ({ object: "voucher", id })),
        order: { amount: 1000 },
      });
      const nothing = { object: "list", data_ref: "data", data: [], total: 0 };
      const lists = { applicable_to: nothing, inapplicable_to: nothing };
      expect(response.body, response.text).toMatchObject({
        redeemables: ids.map((id) => ({ id, ...lists })),
        inapplicable_redeemables: [{ id: ids[1], status: "INAPPLICABLE", ...lists }],
        skipped_redeemables: [{ id: ids[2], status: "SKIPPED", ...lists }],
      });
    });

    test("include the explanation for server-side callers that request it", async () => {
      const { code, ruleId } = await createVoucher(api);
      const expand = ["explanation"];
      const [shown] = (await validate(api, code, { options: { expand } })).redeemables;
      const { explanation } = shown.result;
      expect(explanation).toMatchObject({
        status: "APPLICABLE",
        allocations: [{ amount: 100 }],
      });
      expect(explanation.steps).toContainEqual(
        expect.objectContaining({
          kind: "rule",
          passed: true,
          validation_rule_id: ruleId,
          name: "order.amount",
          conditions: { $more_than_or_equal: [500] },
          value: 1000,
        }),
      );
      const [plain] = (await validate(api, code)).redeemables;
      expect(plain.result).not.toHaveProperty("explanation");

      const single = await api.post(`/v1/vouchers/${code}/validate`, {
        order: { amount: 1000 },
        options: { expand },
      });
      expect(single.body["explanation"]).toMatchObject({ status: "APPLICABLE" });
    });

    test("omit rule internals for client-side callers", async () => {
      const { code, ruleId } = await createVoucher(api);
      const body = { options: { expand: ["explanation", "hints"] } };
      for (const amount of [1000, 100]) {
        const response = await client.post("/client/v1/validations", {
          redeemables: [{ object: "voucher", id: code }],
          order: { amount },
          ...body,
        });
        expect(response.status, response.text).toBe(200);
        const { explanation } = response.body["redeemables"][0].result;
        expect(explanation.steps.length).toBeGreaterThan(0);
        for (const step of explanation.steps) {
          expect(Object.keys(step).toSorted()).toEqual(["kind", "message", "passed"]);
        }
        expect(JSON.stringify(explanation)).not.toContain(ruleId);
        expect(JSON.stringify(explanation)).not.toContain("500");
      }
    });

    test("include hints about unmet conditions", async () => {
      const { code, ruleId } = await createVoucher(api);
      const hinted = async (from: Api, path: string): Promise<readonly Json[]> => {
        const response = await from.post(path, {
          redeemables: [{ object: "voucher", id: code }],
          order: { amount: 100 },
          options: { expand: ["hints"] },
        });
        expect(response.status, response.text).toBe(200);
        return response.body["redeemables"][0].result.hints;
      };
      expect(await hinted(api, "/v1/validations")).toEqual([
        {
          message: "400 more",
          name: "order.amount",
          validation_rule_id: ruleId,
          difference: 400,
        },
      ]);
      const [hint] = await hinted(client, "/client/v1/validations");
      expect(hint).toMatchObject({ message: "400 more", difference: 400 });
      expect(hint).not.toHaveProperty("validation_rule_id");
    });

    test("are the same for client-side redemptions, and the explanation is stored with the redemption", async () => {
      const { code, ruleId } = await createVoucher(api);
      const created = await client.post("/client/v1/redemptions", {
        redeemables: [{ object: "voucher", id: code }],
        order: { amount: 1000 },
        options: { expand: ["explanation"] },
      });
      expect(created.status, created.text).toBe(200);
      const [redemption] = created.body["redemptions"];
      expect(redemption).toMatchObject({ order: { total_amount: 900 }, voucher: { code } });
      expect(JSON.stringify(redemption.explanation)).not.toContain(ruleId);

      const stored = await api.get(`/v1/redemptions/${redemption.id}/explanation`);
      expect(stored.body).toMatchObject({
        object: "redemption_explanation",
        redemption_id: redemption.id,
        redeemables: [{ id: code, object: "voucher", explanation: { status: "APPLICABLE" } }],
      });
      expect(stored.text).toContain(ruleId);
    });

    test("are stored for failed redemptions as well", async () => {
      const { code, ruleId } = await createVoucher(api);
      const rejected = await api.post(`/v1/vouchers/${code}/redemption`, {
        order: { amount: 100 },
      });
      expect([rejected.status, rejected.body["key"]]).toEqual([400, "order_rules_violated"]);
      const stored = await api.get(`/v1/redemptions/${rejected.body["resource_id"]}/explanation`);
      const [{ id, explanation }] = stored.body["redeemables"];
      expect([id, explanation.status]).toEqual([code, "INAPPLICABLE"]);
      expect(explanation.steps.at(-1)).toMatchObject({
        kind: "rule",
        passed: false,
        validation_rule_id: ruleId,
      });
    });

    test("omit stored customer data from client-side redemptions", async () => {
      const { code } = await createVoucher(api);
      const known = { source_id: newCode("buyer"), name: "Ada", metadata: { tier: "gold" } };
      const stored = await api.post("/v1/customers", { ...known, email: "ada@example.com" });
      const request = {
        redeemables: [{ object: "voucher", id: code }],
        order: { amount: 1000 },
        // Customer fields in a client-side request affect this decision, but are not stored.
        customer: { source_id: known.source_id, name: "Eve", metadata: { tier: "platinum" } },
      };
      const { body } = await client.post("/client/v1/redemptions", request);
      const [shown] = body["redemptions"];
      const { id } = stored.body;
      expect(shown.customer).toEqual({ object: "customer", id, source_id: known.source_id });
      // A server-side caller sees the customer.
      const read = await api.get(`/v1/redemptions/${shown.id}`);
      expect(read.body["customer"]).toMatchObject(known);
      const unchanged = await api.get(`/v1/customers/${id}`);
      expect(unchanged.body).toMatchObject(known);
    });

    test("identify a customer by a stable tracking id", async () => {
      const { code } = await createVoucher(api);
      const customer = { source_id: newCode("buyer") };
      const first = await validate(api, code, { customer });
      expect(first["tracking_id"]).toMatch(/^track_/);
      expect((await validate(api, code, { customer }))["tracking_id"]).toBe(first["tracking_id"]);
      const echoed = await validate(api, code, { tracking_id: first["tracking_id"] });
      expect(echoed["tracking_id"]).toBe(first["tracking_id"]);
      const redeemed = await api.post(
        `/v1/vouchers/${code}/redemption?tracking_id=${customer.source_id}`,
        { order: { amount: 1000 } },
      );
      expect(redeemed.body["tracking_id"]).toBe(first["tracking_id"]);
      const other = await api.post(`/v1/vouchers/${code}/redemption?tracking_id=other`, {
        order: { amount: 1000 },
        customer,
      });
      expect(other.body).toMatchObject({ key: "ambiguous_tracking_id" });
    });
  },
);

/** A campaign voucher that requires an order of 5.00; both are in a category. */
async function createVoucher(api: Api) {
  const category = async (): Promise<string> =>
    (await api.post("/v1/categories", { name: newCode("category"), hierarchy: 1 })).body["id"];
  const rule = await api.post("/v1/validation-rules", {
    name: newCode("rule"),
    rules: {
      "1": { name: "order.amount", conditions: { $more_than_or_equal: [500] } },
      logic: "1",
    },
  });
  expect(rule.status, rule.text).toBe(200);
  const campaign = await api.post("/v1/campaigns", {
    name: newCode("campaign"),
    campaign_type: "DISCOUNT_COUPONS",
    type: "STATIC",
    category_id: await category(),
    voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "PERCENT", percent_off: 10 } },
  });
  expect(campaign.status, campaign.text).toBe(200);
  const code = newCode("ANSWER");
  const created = await api.post(`/v1/campaigns/${campaign.body["id"]}/vouchers/${code}`, {
    metadata: { tier: "gold" },
    category_id: await category(),
  });
  expect(created.status, created.text).toBe(200);
  const assigned = await api.post(`/v1/validation-rules/${rule.body["id"]}/assignments`, {
    related_object_type: "voucher",
    related_object_id: created.body["id"],
  });
  expect(assigned.status, assigned.text).toBe(200);
  return { code, campaign: campaign.body, ruleId: rule.body["id"] as string };
}

async function validate(api: Api, code: string, fields: Json = {}): Promise<Json> {
  const response = await api.post("/v1/validations", {
    redeemables: [{ object: "voucher", id: code }],
    order: { amount: 1000 },
    ...fields,
  });
  expect(response.status, response.text).toBe(200);
  return response.body;
}

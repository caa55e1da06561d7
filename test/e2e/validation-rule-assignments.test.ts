import { describe, expect, test } from "vitest";

import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import {
  orderAbove,
  ok,
  errorOf,
  ruleBuilders,
  rulesOf,
  TEN_PERCENT,
  voucherBody,
} from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)(
  "validation rules of vouchers, campaigns and tiers (%s)",
  async (composition) => {
    const stack = await sharedStack(composition);
    const api = await serverApi(stack);
    const { assign, createRule, createVoucher, createCampaign } = ruleBuilders(api);

    test("create vouchers together with their rules, or not at all", async () => {
      const [one, two] = [await createRule(), await createRule()];
      const voucher = await createVoucher({ validation_rules: [two["id"], one["id"]] });
      expect(voucher["validation_rules_assignments"]).toMatchObject({
        object: "list",
        data_ref: "data",
        total: 2,
        data: [
          { rule_id: two["id"], related_object_id: voucher["id"], related_object_type: "voucher" },
          { rule_id: one["id"] },
        ],
      });
      const code = newCode("path");
      const path = `/v1/vouchers/${code}`;
      const unknown = await api.post(
        path,
        voucherBody({ validation_rules: [one["id"], "val_unknown"] }),
      );
      expect(unknown.body).toMatchObject({
        code: 404,
        key: "not_found",
        resource_type: "validation_rules",
        resource_id: "val_unknown",
      });
      expect((await api.get(path)).status).toBe(404);
      expect(
        rulesOf(await ok(api.post(path, voucherBody({ validation_rules: [one["id"]] })))),
      ).toEqual([one["id"]]);
      const before = await ok(api.get(`/v1/validation-rules/${two["id"]}`));
      expect((await api.post(path, voucherBody({ validation_rules: [two["id"]] }))).status).toBe(
        409,
      );
      expect(await ok(api.get(`/v1/validation-rules/${two["id"]}`))).toEqual(before);

      await ok(api.put(path, { active: false }));
      const updated = await ok(api.put(path, { active: true }));
      expect(rulesOf(updated)).toEqual([one["id"]]);
      const listed = await ok(api.get(`/v1/vouchers?code=${code}`));
      expect(rulesOf(listed["vouchers"][0])).toEqual([one["id"]]);
      expect(rulesOf(await createVoucher())).toEqual([]);
    });

    test("are unassigned when their resource is deleted", async () => {
      const rule = await createRule();
      const voucher = await createVoucher({ validation_rules: [rule["id"]] });
      const remaining = await createVoucher({ validation_rules: [rule["id"]] });
      const promotion = await ok(
        api.post("/v1/campaigns", { name: newCode("promotion"), campaign_type: "PROMOTION" }),
      );
      const tier = await ok(
        api.post(`/v1/promotions/${promotion["id"]}/tiers`, {
          name: "Tier",
          action: { discount: TEN_PERCENT },
          validation_rules: [rule["id"]],
        }),
      );
      const having = async () => {
        const { data, total } = await ok(api.get(`/v1/validation-rules/${rule["id"]}/assignments`));
        const { assignments_count: count } = await ok(
          api.get(`/v1/validation-rules/${rule["id"]}`),
        );
        expect(count).toBe(total);
        return data.map(({ related_object_id: id }: Json) => id);
      };
      expect(await having()).toEqual([tier["id"], remaining["id"], voucher["id"]]);
      expect((await api.delete(`/v1/promotions/tiers/${tier["id"]}`)).status).toBe(204);
      expect(await having()).toEqual([remaining["id"], voucher["id"]]);
      expect((await api.delete(`/v1/vouchers/${voucher["code"]}`)).status).toBe(204);
      await expect.poll(having, { timeout: 60_000 }).toEqual([remaining["id"]]);
      const inUse = await api.delete(`/v1/validation-rules/${rule["id"]}`);
      expect(inUse.body).toMatchObject({
        key: "resource_in_use",
        related_object_ids: [remaining["id"]],
        related_object_total: 1,
      });
    });

    test("allow one rule per campaign, which its vouchers list as well", async () => {
      const [one, two] = [await createRule(), await createRule()];
      const campaign = await createCampaign({ validation_rules: [one["id"]] });
      expect(rulesOf(campaign)).toEqual([one["id"]]);
      expect(campaign["validation_rules_assignments"].data[0]).toMatchObject({
        related_object_type: "campaign",
        related_object_id: campaign["id"],
      });
      const path = `/v1/campaigns/${campaign["id"]}`;
      expect(rulesOf(await ok(api.get(path)))).toEqual([one["id"]]);
      expect(rulesOf(await ok(api.put(path, { description: "x" })))).toEqual([one["id"]]);
      const voucher = await ok(api.post(`${path}/vouchers`, {}));
      expect(rulesOf(voucher)).toEqual([one["id"]]);
      await ok(assign(two, "voucher", voucher["code"]));
      expect(rulesOf(await ok(api.get(`/v1/vouchers/${voucher["code"]}`)))).toEqual([
        two["id"],
        one["id"],
      ]);

      const second = await assign(two, "campaign", campaign["name"]);
      expect([second.status, second.body["key"]]).toEqual([400, "invalid_payload"]);
      const many = { name: newCode("x"), validation_rules: [one["id"], two["id"]] };
      expect((await api.post("/v1/campaigns", many)).body["key"]).toBe("invalid_payload");
      const unknown = { name: newCode("x"), validation_rules: ["val_unknown"] };
      expect(await errorOf(api.post("/v1/campaigns", unknown))).toEqual([
        404,
        "not_found",
        "validation_rules",
      ]);
      const taken = {
        name: campaign["name"],
        campaign_type: "DISCOUNT_COUPONS",
        voucher: voucherBody(),
        validation_rules: [two["id"]],
      };
      expect((await api.post("/v1/campaigns", taken)).status).toBe(409);
      expect(await ok(api.get(`/v1/validation-rules/${two["id"]}`))).toMatchObject({
        assignments_count: 1,
      });
    });

    test("are assigned to promotion tiers, individually and with their campaign", async () => {
      const [one, two] = [await createRule(), await createRule()];
      const tier = (rules: string[]): Json => ({
        name: "Tier",
        action: { discount: TEN_PERCENT },
        validation_rules: rules,
      });
      const campaign = await ok(
        api.post("/v1/campaigns", {
          name: newCode("sale"),
          campaign_type: "PROMOTION",
          promotion: { tiers: [tier([one["id"]]), tier([])] },
        }),
      );
      const shown = campaign["promotion"]?.tiers ?? [];
      const tiers = await ok(api.get(`/v1/promotions/${campaign["id"]}/tiers?order=hierarchy`));
      expect(tiers["tiers"].map(rulesOf)).toEqual([[one["id"]], []]);
      expect(shown.map(rulesOf)).toEqual([[one["id"]], []]);
      const created = await ok(
        api.post(`/v1/promotions/${campaign["id"]}/tiers`, tier([two["id"], one["id"]])),
      );
      expect(rulesOf(created)).toEqual([two["id"], one["id"]]);
      expect(created["validation_rules_assignments"].data[0]).toMatchObject({
        related_object_type: "promotion_tier",
        related_object_id: created["id"],
      });
      const three = await createRule();
      await ok(assign(three, "promotion_tier", created["id"]));
      expect(rulesOf(await ok(api.get(`/v1/promotions/tiers/${created["id"]}`)))).toEqual([
        two["id"],
        one["id"],
        three["id"],
      ]);
    });

    test("are enforced as soon as the voucher exists, and after every change", async () => {
      const rule = await createRule();
      const voucher = await createVoucher({ validation_rules: [rule["id"]] });
      const validate = async (amount: number): Promise<Json> =>
        ok(api.post(`/v1/vouchers/${voucher["code"]}/validate`, { order: { amount } }));
      expect(await validate(10_000)).toMatchObject({
        valid: false,
        error: { key: "redemption_rules_violated", details: expect.stringContaining(rule["id"]) },
      });
      expect(await validate(10_001)).toMatchObject({ valid: true });
      await ok(api.put(`/v1/validation-rules/${rule["id"]}`, { rules: orderAbove(20_000) }));
      expect(await validate(10_001)).toMatchObject({ valid: false });

      const redemption = await ok(
        api.post(`/v1/vouchers/${voucher["code"]}/redemption`, { order: { amount: 20_001 } }),
      );
      expect(rulesOf(redemption["voucher"])).toEqual([rule["id"]]);
      const read = await ok(api.get(`/v1/redemptions/${redemption["id"]}`));
      expect(rulesOf(read["voucher"])).toEqual([rule["id"]]);
    });

    test("are enforced before a new voucher can be redeemed", async () => {
      const rule = await createRule();
      const codes = Array.from({ length: 40 }, () => newCode("race"));
      let created = 0;
      const outcomes = await Promise.all([
        inParallel(codes, 4, async (code) => {
          const body = voucherBody({ validation_rules: [rule["id"]] });
          await ok(api.post(`/v1/vouchers/${code}`, body));
          created += 1;
        }),
        inParallel(codes, 4, async (code) => {
          for (let i = 0; i < 200; i += 1) {
            const { status, body } = await api.post(`/v1/vouchers/${code}/validate`, {
              order: { amount: 1 },
            });
            if (status === 200) return body["valid"] as boolean;
          }
          return undefined;
        }),
      ]);
      expect(created).toBe(40);
      expect(outcomes[1].filter((valid) => valid === true)).toEqual([]);
      expect(outcomes[1]).toContain(false);
    });
  },
);

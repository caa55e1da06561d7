import { afterAll, describe, expect, test } from "vitest";

import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { COMPOSITIONS, startStack } from "../stack/stack.ts";

const TEN_PERCENT = { type: "PERCENT", percent_off: 10 };
const above = (amount: number) => ({
  "1": { name: "order.amount", conditions: { $more_than: [amount] } },
  logic: "1",
});

describe.each(COMPOSITIONS)("a shop with rules on %s", async (composition) => {
  const stack = await startStack(composition);
  afterAll(() => stack[Symbol.asyncDispose]());
  const api = await serverApi(stack);

  type Sent = ReturnType<typeof api.get>;
  const ok = async (answer: Sent): Promise<Json> => {
    const { status, text, body } = await answer;
    expect(status, text).toBe(200);
    return body;
  };
  const refusal = async (answer: Sent): Promise<unknown[]> => {
    const { status, body } = await answer;
    return [status, body["key"], body["resource_type"] ?? body["details"]];
  };
  const givenRule = (rule: Json = {}): Promise<Json> =>
    ok(api.post("/v1/validation-rules", { name: "Big orders", rules: above(10_000), ...rule }));
  const voucherBody = (body: Json = {}): Json => ({
    type: "DISCOUNT_VOUCHER",
    discount: TEN_PERCENT,
    ...body,
  });
  const givenVoucher = (body: Json = {}): Promise<Json> =>
    ok(api.post("/v1/vouchers", voucherBody(body)));
  const givenCampaign = (body: Json = {}): Promise<Json> =>
    ok(
      api.post("/v1/campaigns", {
        name: newCode("campaign"),
        campaign_type: "DISCOUNT_COUPONS",
        voucher: voucherBody(),
        ...body,
      }),
    );
  const assign = (rule: Json, type: string, id: string) =>
    api.post(`/v1/validation-rules/${rule["id"]}/assignments`, {
      related_object_type: type,
      related_object_id: id,
    });
  const rulesOf = (resource: Json): string[] =>
    resource["validation_rules_assignments"].data.map(({ rule_id: id }: Json) => id);

  test("keeps a rule as it was sent, lists it, changes it and forgets it", async () => {
    const applicableTo = {
      included: [
        {
          object: "product",
          id: "prod_1",
          source_id: "tea",
          strict: true,
          effect: "APPLY_FROM_CHEAPEST",
          target: "UNIT",
          skip_initially: 1,
          repeat: 2,
          price: 500,
          price_formula: "PRODUCT_PRICE * 2",
          quantity_limit: 3,
          aggregated_quantity_limit: 5,
          amount_limit: 1_000,
          aggregated_amount_limit: 2_000,
          product_campaign_quantity_limit: 10,
          product_in_collection_customer_promotion_tier_quantity_limit_formula: "2 + 3",
        },
        { object: "sku", id: "sku_1", product_id: "prod_1" },
      ],
      excluded: [{ object: "products_collection", id: "pc_1" }],
      included_all: false,
    };
    const bundleRules = {
      limit: 3,
      logic: "1",
      "1": {
        name: "order.items.any",
        conditions: { $is: [{ id: "prod_1", object: "product", type: "product_or_sku" }] },
        rules: {
          "1": { name: "order.items.aggregated_quantity", conditions: { $is: [2] } },
          logic: "1",
        },
      },
    };
    const rule = await givenRule({
      applicable_to: applicableTo,
      bundle_rules: bundleRules,
      error: { message: "Buy more" },
      context_type: "voucher.discount_voucher.discount.apply_to_order",
    });
    expect(rule).toEqual({
      object: "validation_rules",
      id: expect.stringMatching(/^val_[0-9a-f]{18}$/),
      name: "Big orders",
      type: "expression",
      context_type: "voucher.discount_voucher.discount.apply_to_order",
      rules: above(10_000),
      bundle_rules: bundleRules,
      applicable_to: applicableTo,
      error: { message: "Buy more" },
      assignments_count: 0,
      created_at: expect.stringMatching(/Z$/),
      updated_at: null,
    });
    const path = `/v1/validation-rules/${rule["id"]}`;
    expect(await ok(api.get(path))).toEqual(rule);

    const listed = await ok(api.get("/v1/validation-rules?limit=1"));
    expect(listed).toMatchObject({ object: "list", data_ref: "data", data: [rule] });

    const changed = await ok(
      api.put(path, { id: "other", name: "Bigger", error: null, bundle_rules: null }),
    );
    const { bundle_rules: _, error: __, ...others } = rule;
    expect(changed).toEqual({
      ...others,
      name: "Bigger",
      updated_at: expect.stringMatching(/Z$/),
    });
    expect(await ok(api.get(path))).toEqual(changed);

    expect((await api.delete(path)).status).toBe(204);
    expect(await refusal(api.get(path))).toEqual([404, "not_found", "validation_rules"]);
    expect(await refusal(api.put(path, {}))).toEqual([404, "not_found", "validation_rules"]);
    expect(await refusal(api.delete(path))).toEqual([404, "not_found", "validation_rules"]);
  });

  test("refuses a rule that cannot be evaluated, and keeps the one that it should replace", async () => {
    const rule = await givenRule();
    const path = `/v1/validation-rules/${rule["id"]}`;
    const broken: [Json, string | RegExp][] = [
      [
        { rules: { "1": { name: "order.metadata", conditions: { $is: ["a"] } } } },
        "Rule 'order.metadata' must have a 'property'",
      ],
      [{ rules: { ...above(1), logic: "1 AND 2" } }, /2/],
      [{ rules: { ...above(1), logic: "1 AND" } }, /logic/i],
      [{ rules: { "1": { name: "order.colour", conditions: { $is: [1] } } } }, /order\.colour/],
    ];
    for (const [body, details] of broken) {
      for (const answer of [
        await api.post("/v1/validation-rules", { name: "broken", ...body }),
        await api.put(path, body),
      ]) {
        expect(answer.body, JSON.stringify(body)).toMatchObject({
          code: 400,
          key: "invalid_validation_rules",
          message: "Invalid Validation Rule Definition",
          details: typeof details === "string" ? details : expect.stringMatching(details),
        });
      }
    }
    expect(await ok(api.get(path))).toEqual(rule);
    expect(await refusal(api.post("/v1/validation-rules", {}))).toEqual([
      400,
      "invalid_payload",
      expect.stringContaining("name"),
    ]);
    for (const body of [
      { type: "simple" },
      { context_type: "somewhere" },
      { applicable_to: { included: [{ object: "shop", id: "x" }] } },
      { applicable_to: { included: [{ object: "sku", id: "x", repeat: 0 }] } },
    ]) {
      expect((await api.post("/v1/validation-rules", { name: "x", ...body })).body["key"]).toBe(
        "invalid_payload",
      );
    }
  });

  test("assigns a rule to a voucher once, and takes it away again", async () => {
    const rule = await givenRule();
    const voucher = await givenVoucher();
    const assignment = await ok(assign(rule, "voucher", voucher["code"]));
    expect(assignment).toEqual({
      object: "validation_rules_assignment",
      id: expect.stringMatching(/^asgm_[0-9a-f]{18}$/),
      rule_id: rule["id"],
      related_object_id: voucher["id"],
      related_object_type: "voucher",
      created_at: expect.stringMatching(/Z$/),
    });
    expect(await refusal(assign(rule, "voucher", voucher["id"]))).toEqual([
      409,
      "duplicate_found",
      "validation_rules_assignment",
    ]);
    expect(rulesOf(await ok(api.get(`/v1/vouchers/${voucher["code"]}`)))).toEqual([rule["id"]]);

    const path = `/v1/validation-rules/${rule["id"]}`;
    expect(await ok(api.get(path))).toMatchObject({ assignments_count: 1 });
    const inUse = await api.delete(path);
    expect(inUse.body).toMatchObject({
      code: 400,
      key: "resource_in_use",
      details: `Resource validation_rules with id ${rule["id"]} is in use by vouchers with ids [${voucher["id"]}]`,
      related_object_type: "voucher",
      related_object_ids: [voucher["id"]],
      related_object_total: 1,
    });

    const other = await givenRule();
    const assignments = `${path}/assignments/${assignment["id"]}`;
    const wrong = `/v1/validation-rules/${other["id"]}/assignments/${assignment["id"]}`;
    expect((await api.delete(wrong)).status).toBe(404);
    expect((await api.delete(assignments)).status).toBe(204);
    expect((await api.delete(assignments)).status).toBe(404);
    expect(rulesOf(await ok(api.get(`/v1/vouchers/${voucher["code"]}`)))).toEqual([]);
    expect((await api.delete(path)).status).toBe(204);
  });

  test("does not assign what is not there", async () => {
    const rule = await givenRule();
    const voucher = await givenVoucher();
    const unknown = { id: "val_unknown" };
    expect(await refusal(assign(unknown, "voucher", voucher["id"]))).toEqual([
      404,
      "not_found",
      "validation_rules",
    ]);
    for (const type of ["voucher", "campaign", "promotion_tier", "earning_rule"]) {
      expect(await refusal(assign(rule, type, "nothing"))).toEqual([404, "not_found", type]);
    }
    expect((await assign(rule, "shop", "x")).body["key"]).toBe("invalid_payload");
    await ok(api.get(`/v1/validation-rules/${rule["id"]}`));
  });

  test("of many requests to assign a rule one does", async () => {
    const rule = await givenRule();
    const voucher = await givenVoucher();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => assign(rule, "voucher", voucher["id"])),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      200,
      ...Array.from({ length: 9 }, () => 409),
    ]);
  });

  test("lists assignments in pages, of one rule and of all", async () => {
    const rule = await givenRule();
    const ids: string[] = [];
    for (let i = 0; i < 12; i += 1) {
      ids.push((await givenVoucher({ validation_rules: [rule["id"]] }))["id"]);
    }
    const path = `/v1/validation-rules/${rule["id"]}/assignments`;
    const objectsOf = (list: Json): string[] =>
      list["data"].map(({ related_object_id: id }: Json) => id);
    const first = await ok(api.get(path));
    expect(first).toMatchObject({ object: "list", data_ref: "data", total: 12 });
    expect(objectsOf(first)).toEqual(ids.toReversed().slice(0, 10));
    expect(objectsOf(await ok(api.get(`${path}?page=2`)))).toEqual(ids.toReversed().slice(10));
    expect(objectsOf(await ok(api.get(`${path}?order=created_at&limit=3&page=2`)))).toEqual(
      ids.slice(3, 6),
    );
    expect(await ok(api.get(`${path}?page=9`))).toMatchObject({ data: [], total: 12 });
    const all = await ok(api.get("/v1/validation-rules-assignments?limit=12"));
    expect(objectsOf(all)).toEqual(ids.toReversed());
    expect(all["total"]).toBeGreaterThanOrEqual(12);

    expect(await ok(api.get("/v1/validation-rules/val_unknown/assignments"))).toEqual({
      object: "list",
      data_ref: "data",
      data: [],
      total: 0,
    });
    for (const query of ["limit=0", "limit=101", "page=0", "page=101", "order=id"]) {
      expect((await api.get(`${path}?${query}`)).body["key"]).toBe("invalid_query_params");
      expect((await api.get(`/v1/validation-rules-assignments?${query}`)).status).toBe(400);
    }
  });

  test("makes vouchers with their rules, or not at all", async () => {
    const [one, two] = [await givenRule(), await givenRule()];
    const voucher = await givenVoucher({ validation_rules: [two["id"], one["id"]] });
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
    expect((await api.post(path, voucherBody({ validation_rules: [two["id"]] }))).status).toBe(409);
    expect(await ok(api.get(`/v1/validation-rules/${two["id"]}`))).toEqual(before);

    await ok(api.put(path, { active: false }));
    const updated = await ok(api.put(path, { active: true }));
    expect(rulesOf(updated)).toEqual([one["id"]]);
    const listed = await ok(api.get(`/v1/vouchers?code=${code}`));
    expect(rulesOf(listed["vouchers"][0])).toEqual([one["id"]]);
    expect(rulesOf(await givenVoucher())).toEqual([]);
  });

  test("gives campaigns one rule, which their vouchers show too", async () => {
    const [one, two] = [await givenRule(), await givenRule()];
    const campaign = await givenCampaign({ validation_rules: [one["id"]] });
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
    expect(await refusal(api.post("/v1/campaigns", unknown))).toEqual([
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

  test("gives promotion tiers their rules, alone and with their campaign", async () => {
    const [one, two] = [await givenRule(), await givenRule()];
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
    const made = await ok(
      api.post(`/v1/promotions/${campaign["id"]}/tiers`, tier([two["id"], one["id"]])),
    );
    expect(rulesOf(made)).toEqual([two["id"], one["id"]]);
    expect(made["validation_rules_assignments"].data[0]).toMatchObject({
      related_object_type: "promotion_tier",
      related_object_id: made["id"],
    });
    const three = await givenRule();
    await ok(assign(three, "promotion_tier", made["id"]));
    expect(rulesOf(await ok(api.get(`/v1/promotions/tiers/${made["id"]}`)))).toEqual([
      two["id"],
      one["id"],
      three["id"],
    ]);
  });

  test("decides by the rules of a voucher from the moment it exists, and by their changes", async () => {
    const rule = await givenRule();
    const voucher = await givenVoucher({ validation_rules: [rule["id"]] });
    const validate = async (amount: number): Promise<Json> =>
      ok(api.post(`/v1/vouchers/${voucher["code"]}/validate`, { order: { amount } }));
    expect(await validate(10_000)).toMatchObject({
      valid: false,
      error: { key: "redemption_rules_violated", details: expect.stringContaining(rule["id"]) },
    });
    expect(await validate(10_001)).toMatchObject({ valid: true });
    await ok(api.put(`/v1/validation-rules/${rule["id"]}`, { rules: above(20_000) }));
    expect(await validate(10_001)).toMatchObject({ valid: false });

    const redemption = await ok(
      api.post(`/v1/vouchers/${voucher["code"]}/redemption`, { order: { amount: 20_001 } }),
    );
    expect(rulesOf(redemption["voucher"])).toEqual([rule["id"]]);
    const read = await ok(api.get(`/v1/redemptions/${redemption["id"]}`));
    expect(rulesOf(read["voucher"])).toEqual([rule["id"]]);
  });

  test("never lets a voucher through before its rules count", async () => {
    const rule = await givenRule();
    const codes = Array.from({ length: 40 }, () => newCode("race"));
    let made = 0;
    const outcomes = await Promise.all([
      inParallel(codes, 4, async (code) => {
        const body = voucherBody({ validation_rules: [rule["id"]] });
        await ok(api.post(`/v1/vouchers/${code}`, body));
        made += 1;
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
    expect(made).toBe(40);
    expect(outcomes[1].filter((valid) => valid === true)).toEqual([]);
    expect(outcomes[1]).toContain(false);
  });

  test("needs the scope of the path", async () => {
    const rules = await serverApi(stack, "validation-rules");
    const assignments = await serverApi(stack, "validation-rules-assignments");
    expect((await rules.get("/v1/validation-rules")).status).toBe(200);
    expect((await rules.get("/v1/validation-rules-assignments")).status).toBe(403);
    expect((await assignments.get("/v1/validation-rules-assignments")).status).toBe(200);
    expect((await assignments.get("/v1/validation-rules")).status).toBe(403);
  });
});

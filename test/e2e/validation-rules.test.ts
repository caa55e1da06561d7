import { describe, expect, test } from "vitest";

import { type Json, serverApi } from "../stack/api.ts";
import { orderAbove, ok, errorOf, ruleBuilders, rulesOf } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("validation rules (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const { assign, createRule, createVoucher } = ruleBuilders(api);

  test("use the id as the name when none is provided", async () => {
    const created = await api.post("/v1/validation-rules", { rules: orderAbove(10) });
    expect([created.status, created.body["name"]], created.text).toEqual([200, created.body["id"]]);
    const path = `/v1/validation-rules/${created.body["id"]}`;
    expect((await api.put(path, { rules: orderAbove(20) })).body["name"]).toBe(created.body["id"]);
    expect((await api.put(path, { name: "Above 20" })).body["name"]).toBe("Above 20");
  });

  test("are stored as sent, listed, updated and deleted", async () => {
    const { id: product } = await ok(api.post("/v1/products", { name: "Tea" }));
    const { id: sku } = await ok(api.post(`/v1/products/${product}/skus`, { sku: "green" }));
    const { id: collection } = await ok(
      api.post("/v1/product-collections", { name: "None", type: "STATIC", products: [] }),
    );
    const applicableTo = {
      included: [
        {
          object: "product",
          id: product,
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
        { object: "sku", id: sku, product_id: product },
      ],
      excluded: [{ object: "products_collection", id: collection }],
      included_all: false,
    };
    const bundleRules = {
      limit: 3,
      logic: "1",
      "1": {
        name: "order.items.any",
        conditions: { $is: [{ id: product, object: "product", type: "product_or_sku" }] },
        rules: {
          "1": { name: "order.items.aggregated_quantity", conditions: { $is: [2] } },
          logic: "1",
        },
      },
    };
    const rule = await createRule({
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
      rules: orderAbove(10_000),
      bundle_rules: bundleRules,
      // Entries without an effect are returned with the default.
      applicable_to: {
        ...applicableTo,
        included: [
          applicableTo.included[0],
          { ...applicableTo.included[1], effect: "APPLY_TO_EVERY" },
        ],
        excluded: [{ ...applicableTo.excluded[0], effect: "APPLY_TO_EVERY" }],
      },
      error: { message: "Buy more" },
      assignments_count: 0,
      created_at: expect.stringMatching(/Z$/),
      updated_at: null,
    });
    const path = `/v1/validation-rules/${rule["id"]}`;
    expect(await ok(api.get(path))).toEqual(rule);
    const sentBack = await ok(api.put(path, rule));
    expect(sentBack).toEqual({ ...rule, updated_at: sentBack["updated_at"] });

    const listed = await ok(api.get("/v1/validation-rules?limit=1"));
    expect(listed).toMatchObject({ object: "list", data_ref: "data", data: [sentBack] });

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
    expect(await errorOf(api.get(path))).toEqual([404, "not_found", "validation_rules"]);
    expect(await errorOf(api.put(path, {}))).toEqual([404, "not_found", "validation_rules"]);
    expect(await errorOf(api.delete(path))).toEqual([404, "not_found", "validation_rules"]);
  });

  test("are rejected when they cannot be evaluated, and the existing rule does not change", async () => {
    const rule = await createRule();
    const path = `/v1/validation-rules/${rule["id"]}`;
    const broken: [Json, string | RegExp][] = [
      [
        { rules: { "1": { name: "order.metadata", conditions: { $is: ["a"] } } } },
        "Rule 'order.metadata' must have a 'property'",
      ],
      [{ rules: { ...orderAbove(1), logic: "1 AND 2" } }, /2/],
      [{ rules: { ...orderAbove(1), logic: "1 AND" } }, /logic/i],
      [{ rules: { "1": { name: "order.colour", conditions: { $is: [1] } } } }, /order\.colour/],
    ];
    for (const [body, details] of broken) {
      for (const response of [
        await api.post("/v1/validation-rules", { name: "broken", ...body }),
        await api.put(path, body),
      ]) {
        expect(response.body, JSON.stringify(body)).toMatchObject({
          code: 400,
          key: "invalid_validation_rules",
          message: "Invalid Validation Rule Definition",
          details: typeof details === "string" ? details : expect.stringMatching(details),
        });
      }
    }
    expect(await ok(api.get(path))).toEqual(rule);
    expect(await errorOf(api.post("/v1/validation-rules", { name: "" }))).toEqual([
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

  test("are assigned to a voucher once, and unassigned", async () => {
    const rule = await createRule();
    const voucher = await createVoucher();
    const assignment = await ok(assign(rule, "voucher", voucher["code"]));
    expect(assignment).toEqual({
      object: "validation_rules_assignment",
      id: expect.stringMatching(/^asgm_[0-9a-f]{18}$/),
      rule_id: rule["id"],
      related_object_id: voucher["id"],
      related_object_type: "voucher",
      created_at: expect.stringMatching(/Z$/),
    });
    expect(await errorOf(assign(rule, "voucher", voucher["id"]))).toEqual([
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

    const other = await createRule();
    const assignments = `${path}/assignments/${assignment["id"]}`;
    const wrong = `/v1/validation-rules/${other["id"]}/assignments/${assignment["id"]}`;
    expect((await api.delete(wrong)).status).toBe(404);
    expect((await api.delete(assignments)).status).toBe(204);
    expect((await api.delete(assignments)).status).toBe(404);
    expect(rulesOf(await ok(api.get(`/v1/vouchers/${voucher["code"]}`)))).toEqual([]);
    expect((await api.delete(path)).status).toBe(204);
  });

  test("are not assigned to unknown objects", async () => {
    const rule = await createRule();
    const voucher = await createVoucher();
    const unknown = { id: "val_unknown" };
    expect(await errorOf(assign(unknown, "voucher", voucher["id"]))).toEqual([
      404,
      "not_found",
      "validation_rules",
    ]);
    for (const type of ["voucher", "campaign", "promotion_tier", "earning_rule"]) {
      expect(await errorOf(assign(rule, type, "nothing"))).toEqual([404, "not_found", type]);
    }
    expect((await assign(rule, "shop", "x")).body["key"]).toBe("invalid_payload");
    await ok(api.get(`/v1/validation-rules/${rule["id"]}`));
  });

  test("are assigned once by concurrent requests", async () => {
    const rule = await createRule();
    const voucher = await createVoucher();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => assign(rule, "voucher", voucher["id"])),
    );
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 9 }, () => 409),
    ]);
  });

  test("list assignments page by page, for one rule and for all", async () => {
    const rule = await createRule();
    const ids: string[] = [];
    for (let i = 0; i < 12; i += 1) {
      ids.push((await createVoucher({ validation_rules: [rule["id"]] }))["id"]);
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

  test("require the scope of the path", async () => {
    const rules = await serverApi(stack, "validation-rules");
    const assignments = await serverApi(stack, "validation-rules-assignments");
    expect((await rules.get("/v1/validation-rules")).status).toBe(200);
    expect((await rules.get("/v1/validation-rules-assignments")).status).toBe(403);
    expect((await assignments.get("/v1/validation-rules-assignments")).status).toBe(200);
    expect((await assignments.get("/v1/validation-rules")).status).toBe(403);
  });
});

import { describe, expect, test } from "vitest";

import {
  clientApi,
  type Json,
  managementApi,
  newCode,
  newProject,
  serverApi,
} from "../stack/api.ts";
import {
  appliesOnlyTo,
  percent,
  qualificationBuilders,
  when,
} from "../stack/qualification-builders.ts";
import { ok, errorOf } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("responses of POST /v1/qualifications (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const client = await clientApi(stack, "https://shop.example");

  const createBuilders = async () => {
    const project = await newProject(stack);
    return { ...project, ...qualificationBuilders(project.api) };
  };
  const find = (response: Json, id: string): Json =>
    response["redeemables"].data.find((one: Json) => one["id"] === id);

  test("include expanded fields on request", async () => {
    const { api, voucher, tier, qualify } = await createBuilders();
    const category = await ok(api.post("/v1/categories", { name: "sale", hierarchy: 1 }));
    await voucher("SALE", { category_id: category["id"], metadata: { colour: "red" } });
    const createdTier = await tier("tier", { banner: "5 % off", metadata: { size: 1 } });
    const qualifyWith = (...expand: string[]): Promise<Json> =>
      qualify({ order: { amount: 1000 }, options: { expand } });

    const plain = await qualifyWith();
    for (const one of plain["redeemables"].data) {
      expect(Object.keys(one).toSorted()).toEqual([
        "applicable_to",
        "created_at",
        "id",
        "inapplicable_to",
        "object",
        "order",
        "result",
      ]);
    }
    const described = await qualifyWith("redeemable", "category");
    expect(find(described, "SALE")).toMatchObject({
      metadata: { colour: "red" },
      categories: [{ id: category["id"], stacking_rules_type: "COMMON" }],
      order: { total_amount: 900 },
    });
    expect(find(described, createdTier["id"])).toMatchObject({
      name: "tier",
      banner: "5 % off",
      campaign_id: createdTier["campaign_id"],
      metadata: { size: 1 },
    });
  });

  test("list the evaluated rules", async () => {
    const { voucher, tier, qualify } = await createBuilders();
    await voucher(
      "BOTH",
      {},
      when("order.amount", { $more_than: [100] }),
      when("campaign.redemptions.count", { $less_than_or_equal: [10] }),
    );
    const createdTier = await tier("none");
    const response = await qualify({
      order: { amount: 1000 },
      options: { expand: ["validation_rules"] },
    });
    const rules = find(response, "BOTH")["validation_rules_assignments"];
    expect(rules).toMatchObject({ object: "list", data_ref: "data", total: 2 });
    expect(rules.data).toMatchObject([
      {
        object: "validation_rules_assignment",
        id: expect.stringMatching(/^asgm_/),
        rule_id: expect.stringMatching(/^val_/),
        related_object_type: "voucher",
        validation_status: "VALID",
        validation_omitted_rules: [],
      },
      {
        validation_status: "PARTIALLY_VALID",
        validation_omitted_rules: ["campaign.redemptions.count"],
      },
    ]);
    expect(find(response, createdTier["id"])["validation_rules_assignments"]).toMatchObject({
      data: [],
      total: 0,
    });
  });

  test("ignore budget rules, which validations enforce", async () => {
    const { api, voucher, names } = await createBuilders();
    const customer = { source_id: "ann" };
    const order = { amount: 1000 };
    await voucher("ONCE", {}, when("redemption.count.per_customer", { $less_than_or_equal: [1] }));
    await ok(api.post("/v1/vouchers/ONCE/redemption", { customer, order }));
    expect(await ok(api.post("/v1/vouchers/ONCE/validate", { customer, order }))).toMatchObject({
      valid: false,
    });
    expect(await names({ customer, order })).toEqual(["ONCE"]);
  });

  test("include the explanation and hints about what nearly qualifies", async () => {
    const { voucher, tier, qualify, product } = await createBuilders();
    const mug = await product("mug", 1000);
    await voucher("NEAR", {}, when("order.amount", { $more_than_or_equal: [3500] }));
    await voucher("OTHER", {}, when("order.items.any", { $is: [mug["id"]] }));
    await voucher("NEVER", { expiration_date: "2020-01-01T00:00:00Z" });
    const later = await tier("later", { start_date: "2099-12-01T00:00:00Z" });
    await voucher("NOW", {}, appliesOnlyTo(mug));
    const response = await qualify({
      order: { amount: 1000 },
      options: { expand: ["explanation", "hints"] },
    });
    expect(response["redeemables"].data).toMatchObject([
      { id: "NOW", result: { explanation: { status: "APPLICABLE" } } },
    ]);
    expect(response["inapplicable_redeemables"]).toMatchObject([
      {
        object: "promotion_tier",
        id: later["id"],
        status: "INAPPLICABLE",
        result: { hints: [{ name: "dates", from: "2099-12-01T00:00:00.000Z" }] },
      },
      { id: "OTHER", result: { hints: [{ name: "order.items.any", any_of: [mug["id"]] }] } },
      {
        id: "NEAR",
        result: {
          hints: [{ message: "2500 more", difference: 2500 }],
          error: { key: "order_rules_violated" },
        },
      },
    ]);
    const few = await qualify({
      order: { amount: 1000 },
      options: { expand: ["hints"], limit: 1 },
    });
    expect(few["inapplicable_redeemables"]).toHaveLength(1);
  });

  test("show the credits of a gift voucher that other sessions lock", async () => {
    const { api, gift, qualify } = await createBuilders();
    await gift("CARD", 1000);
    const session = { type: "LOCK", key: "cart-1" };
    await ok(
      api.post("/v1/validations", {
        redeemables: [{ object: "voucher", id: "CARD", gift: { credits: 300 } }],
        order: { amount: 5000 },
        session,
      }),
    );
    const qualifyWith = (more: Json = {}): Promise<Json> =>
      qualify({ order: { amount: 5000 }, ...more });
    expect(find(await qualifyWith(), "CARD")["result"]).toMatchObject({
      gift: { balance: 1000, credits: 700, locked_credits: 300 },
    });
    expect(find(await qualifyWith({ session }), "CARD")["result"]).toMatchObject({
      gift: { balance: 1000, credits: 1000, locked_credits: 0 },
    });
  });

  test("omit rule internals and codes of monetary value for client-side callers", async () => {
    const api = await serverApi(stack);
    const { voucher, gift, publish, qualify } = qualificationBuilders(api);
    const [open, metadata, far, card, assigned, customer] = Array.from({ length: 6 }, () =>
      newCode("client"),
    ) as [string, string, string, string, string, string];
    const isApp = when("redemption.metadata", { $is: ["app"] }, { property: "from" });
    await voucher(open, {}, when("campaign.redemptions.count", { $less_than: [10] }));
    await voucher(metadata, {}, isApp);
    await voucher(far, {}, when("order.amount", { $more_than: [5000] }));
    await gift(card, 1000);
    await gift(assigned, 1000);
    await publish(assigned, customer);
    const body = {
      customer: { source_id: customer },
      order: { amount: 1000 },
      options: {
        limit: 50,
        expand: ["validation_rules", "explanation", "hints"],
        filters: { code: { conditions: { $in: [open, metadata, far, card, assigned] } } },
      },
    };
    const listedIds = (response: Json): unknown => [
      response["redeemables"].data.map(({ id }: Json) => id),
      response["inapplicable_redeemables"].map(({ id }: Json) => id),
    ];
    expect(listedIds(await qualify(body))).toEqual([
      [assigned, card, open],
      [far, metadata],
    ]);
    const clientResponse = await ok(client.post("/client/v1/qualifications", body));
    expect(listedIds(clientResponse)).toEqual([[assigned, open], [far]]);
    const shown = find(clientResponse, open);
    expect(shown["validation_rules_assignments"].data).toMatchObject([
      { validation_status: "PARTIALLY_VALID", validation_omitted_rules: [] },
    ]);
    const text = JSON.stringify([shown["result"], shown["validation_rules_assignments"]]);
    expect(text).not.toMatch(/redemptions\.count|\$less_than|conditions/);
  });

  test("require the scope qualifications", async () => {
    const validations = await serverApi(stack, "validations");
    expect((await errorOf(validations.post("/v1/qualifications")))[0]).toBe(403);
    const qualifications = await serverApi(stack, "qualifications");
    expect((await qualifications.post("/v1/qualifications")).status).toBe(200);
    expect((await errorOf(client.post("/v1/qualifications")))[0]).toBe(401);
  });

  test("omit redeemables that would be skipped for lack of effect", async () => {
    const { id, voucher, product, names, qualify } = await createBuilders();
    const mug = await product("mug", 1000);
    await voucher("MUG", { discount: percent(10) }, appliesOnlyTo(mug));
    const order = { amount: 500 };
    expect(await names({ order })).toEqual(["MUG"]);
    const rules = { redeemables_no_effect_rule: "SKIP" };
    const path = `/management/v1/projects/${id}/stacking-rules`;
    expect((await managementApi(stack).post(path, rules)).status).toBe(200);
    expect(await qualify({ order })).toMatchObject({
      redeemables: { data: [] },
      stacking_rules: rules,
    });
    expect(await names({ order, scenario: "AUDIENCE_ONLY" })).toEqual(["MUG"]);
  });
});

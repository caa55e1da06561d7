import { describe, expect, test } from "vitest";

import { type Json, newProject } from "../stack/api.ts";
import {
  appliesOnlyTo,
  percent,
  qualificationBuilders,
  when,
} from "../stack/qualification-builders.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("qualification scenarios (%s)", async (composition) => {
  const stack = await sharedStack(composition);

  const createBuilders = async () => {
    const { api } = await newProject(stack);
    return { api, ...qualificationBuilders(api) };
  };

  test("return the redeemables of each scenario", async () => {
    const {
      api,
      product,
      voucher,
      tier,
      stack: promotionStack,
      promotion,
      publish,
      names,
      qualify,
    } = await createBuilders();
    const mug = await product("mug", 1_000);
    const pen = await product("pen", 200);
    const item = ({ id }: Json): Json => ({ $is: [{ object: "product", id }] });
    const bundle = (...parts: Json[]): Json => ({
      bundle_rules: Object.fromEntries(
        parts.map((part, index) => [
          index + 1,
          {
            name: "order.items.any",
            conditions: item(part),
            rules: { "1": { name: "order.items.aggregated_quantity", conditions: { $is: [1] } } },
          },
        ]),
      ),
    });
    await voucher("ANY");
    await voucher("BIG", {}, when("order.amount", { $more_than: [100_000] }));
    await voucher("POLES", {}, when("customer.metadata", { $is: ["PL"] }, { property: "country" }));
    await voucher(
      "GERMANS",
      {},
      when("customer.metadata", { $is: ["DE"] }, { property: "country" }),
    );
    await voucher("ONCE", {}, when("redemption.count.per_customer", { $less_than_or_equal: [0] }));
    await voucher("APP", {}, when("redemption.metadata", { $is: ["app"] }, { property: "from" }));
    await voucher("MUG", {}, appliesOnlyTo(mug), when("order.amount", { $more_than: [100_000] }));
    await voucher("PEN", {}, appliesOnlyTo(pen));
    await voucher("WITH_MUG", {}, when("order.items.any", item(mug)));
    await voucher("NO_MUG", {}, when("order.items.none", item(mug)));
    await voucher(
      "MUG_DE",
      {},
      appliesOnlyTo(mug),
      when("customer.metadata", { $is: ["DE"] }, { property: "country" }),
    );
    await voucher("SET", {}, bundle(mug, pen));
    await voucher("ITEMS", {
      discount: { type: "AMOUNT", amount_off: 50, effect: "APPLY_TO_ITEMS" },
    });
    await voucher("FREE_MUG", {
      discount: { type: "UNIT", unit_off: 1, unit_type: mug["id"], effect: "ADD_MISSING_ITEMS" },
    });
    await voucher("ANNS", {}, when("publication.redeemable_by_linked_customer", { $is: [true] }));
    await publish("ANNS", "ann");
    const campaign = (await promotion())["id"];
    const ids: string[] = [];
    for (const [name, ...rules] of [
      ["first"],
      ["second"],
      ["too big", when("order.amount", { $more_than: [100_000] })],
    ] as const) {
      ids.push((await tier(name, { campaign }, ...rules))["id"]);
    }
    await promotionStack("good", campaign, ids.slice(0, 2));
    await promotionStack("bad", campaign, ids);

    const body = {
      customer: { source_id: "ann", metadata: { country: "PL" } },
      order: { items: [{ product_id: mug["id"], quantity: 1 }] },
    };
    const concerned = ["FREE_MUG", "ITEMS", "SET", "MUG_DE", "WITH_MUG", "MUG"];
    const discounted = ["FREE_MUG", "ITEMS", "MUG_DE", "MUG"];
    const expected: Readonly<Record<string, readonly string[]>> = {
      ALL: [
        "second",
        "first",
        "ANNS",
        "FREE_MUG",
        "ITEMS",
        "WITH_MUG",
        "PEN",
        "ONCE",
        "POLES",
        "ANY",
      ],
      CUSTOMER_WALLET: ["ANNS"],
      AUDIENCE_ONLY: [
        "too big",
        "second",
        "first",
        "ANNS",
        "FREE_MUG",
        "ITEMS",
        "SET",
        "NO_MUG",
        "WITH_MUG",
        "PEN",
        "MUG",
        "APP",
        "ONCE",
        "POLES",
        "BIG",
        "ANY",
      ],
      PRODUCTS: concerned,
      PRODUCTS_DISCOUNT: discounted,
      PRODUCTS_BY_CUSTOMER: concerned.filter((name) => name !== "MUG_DE"),
      PRODUCTS_DISCOUNT_BY_CUSTOMER: discounted.filter((name) => name !== "MUG_DE"),
      PROMOTION_STACKS: ["good"],
    };
    for (const [scenario, expectedNames] of Object.entries(expected)) {
      expect(await names({ ...body, scenario }), scenario).toEqual(expectedNames);
    }
    expect(await names(body), "without a scenario").toEqual(expected["ALL"]);
    expect(await names({ ...body, metadata: { from: "app" } })).toContain("APP");

    // Without a customer, redeemables that depend on one are omitted.
    expect(await names({ order: body.order })).toEqual(
      expected["ALL"]?.filter((name) => !["ANNS", "ONCE", "POLES"].includes(name)),
    );
    expect(await names({ order: body.order, scenario: "PRODUCTS" })).toEqual(
      concerned.filter((name) => name !== "MUG_DE"),
    );
    // A scenario about the customer needs no order.
    expect(await names({ customer: body.customer, scenario: "AUDIENCE_ONLY" })).toEqual(
      expected["AUDIENCE_ONLY"],
    );

    const audience = await qualify({ ...body, scenario: "AUDIENCE_ONLY", options: { limit: 50 } });
    const set = audience["redeemables"].data.find(({ id }: Json) => id === "SET");
    expect(set.result.bundle).toMatchObject({ quantity: 0, missing: [{ id: pen["id"] }] });

    const stacks = await qualify({ ...body, scenario: "PROMOTION_STACKS" });
    expect(stacks["redeemables"].data).toMatchObject([
      {
        object: "promotion_stack",
        order: { amount: 1000, total_applied_discount_amount: 98 },
        redeemables: [
          { object: "promotion_tier", status: "APPLICABLE", id: ids[0] },
          { object: "promotion_tier", status: "APPLICABLE", id: ids[1] },
        ],
      },
    ]);
    const nothing = await api.post("/v1/qualifications", {});
    expect(nothing.status, nothing.text).toBe(200);
  });

  test("apply filters", async () => {
    const { api, voucher, tier, gift, publish, names } = await createBuilders();
    const category = await ok(api.post("/v1/categories", { name: "sale", hierarchy: 1 }));
    const campaign = await ok(
      api.post("/v1/campaigns", {
        name: "promo",
        campaign_type: "PROMOTION",
        category_id: category["id"],
      }),
    );
    const withCode = await ok(
      api.post("/v1/campaigns", {
        name: "coded",
        type: "STANDALONE",
        campaign_type: "DISCOUNT_COUPONS",
        category_id: category["id"],
        voucher: { type: "DISCOUNT_VOUCHER", discount: percent(10), code: "CODED" },
      }),
    );
    const createdVoucher = await voucher("SALE", { category_id: category["id"] });
    await gift("CARD", 500);
    await voucher("HELD");
    await publish("HELD", "ann");
    const sale = await tier("tier", { campaign: campaign["id"] });
    const all = ["tier", "HELD", "CARD", "SALE", "CODED"];
    const is = (...values: string[]): Json => ({ conditions: { $is: values } });
    const cases: readonly (readonly [Json, readonly string[]])[] = [
      [{}, all],
      [{ code: is("SALE") }, ["SALE"]],
      [{ code: { conditions: { $in: ["HELD", "CODED", "nothing"] } } }, ["HELD", "CODED"]],
      [{ code: { conditions: { $is_not: ["SALE"] } } }, ["tier", "HELD", "CARD", "CODED"]],
      [{ category_id: is(category["id"]) }, ["tier", "SALE", "CODED"]],
      [{ category_id: { conditions: { $is_unknown: "" } } }, ["HELD", "CARD"]],
      [{ campaign_id: is(withCode["id"], campaign["id"]) }, ["tier", "CODED"]],
      [{ campaign_type: is("PROMOTION") }, ["tier"]],
      [{ campaign_type: { conditions: { $has_value: "" } } }, ["tier", "CODED"]],
      [{ resource_id: is(createdVoucher["id"], sale["id"]) }, ["tier", "SALE"]],
      [{ resource_type: is("promotion_tier") }, ["tier"]],
      [{ resource_type: { conditions: { $not_in: ["promotion_tier"] } } }, all.slice(1)],
      [{ voucher_type: is("GIFT_VOUCHER") }, ["CARD"]],
      [{ holder_role: is("OWNER") }, ["HELD"]],
      [{ holder_role: is("REFERRER") }, []],
      [
        { junction: "or", code: is("CARD"), category_id: is(category["id"]) },
        ["tier", "CARD", "SALE", "CODED"],
      ],
      [{ junction: "OR", code: is("CARD"), holder_role: is("OWNER") }, ["HELD", "CARD"]],
      [
        { junction: "and", voucher_type: is("DISCOUNT_VOUCHER"), category_id: is(category["id"]) },
        ["SALE", "CODED"],
      ],
    ];
    const body = { customer: { source_id: "ann" }, order: { amount: 1000 } };
    for (const [filters, expectedNames] of cases) {
      expect(await names({ ...body, options: { filters } }), JSON.stringify(filters)).toEqual(
        expectedNames,
      );
    }
  });
});

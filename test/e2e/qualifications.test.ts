import { describe, expect, test } from "vitest";

import { type Json, managementApi, newCode, newProject } from "../stack/api.ts";
import {
  insertExhaustedVouchers,
  appliesOnlyTo,
  percent,
  qualificationBuilders,
} from "../stack/qualification-builders.ts";
import { ok, errorOf } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("qualifications (%s)", async (composition) => {
  const stack = await sharedStack(composition);

  const createBuilders = async (settings: Json = {}) => {
    const project = await newProject(stack, settings);
    return { ...project, ...qualificationBuilders(project.api) };
  };

  test("calculate each redeemable on the original order", async () => {
    const { product, voucher, tier, gift, publish, qualify, names, nameOf } =
      await createBuilders();
    const tool = await product("tool", 10_000);
    const book = await product("book", 1_500);
    await tier("ten percent", { discount: percent(10) });
    await voucher("BOOK20", { discount: percent(20) }, appliesOnlyTo(book));
    await gift("GIFT", 2_500);
    await publish("GIFT", "ann");
    await voucher("TOOL10", { discount: percent(10) }, appliesOnlyTo(tool));

    const body = {
      customer: { source_id: "ann" },
      order: { items: [tool, book].map(({ id }) => ({ product_id: id, quantity: 1 })) },
    };
    const response = await qualify(body);
    const { redeemables } = response;
    expect(redeemables).toMatchObject({ object: "list", data_ref: "data", total: 4 });
    expect(redeemables.has_more).toBe(false);
    expect(redeemables).not.toHaveProperty("more_starting_after");
    expect(
      redeemables.data.map((one: Json) => [
        nameOf(one),
        one["order"].total_applied_discount_amount,
      ]),
    ).toEqual([
      ["TOOL10", 1000],
      ["GIFT", 2500],
      ["BOOK20", 300],
      ["ten percent", 1150],
    ]);
    expect(redeemables.data[1]).toMatchObject({
      object: "voucher",
      result: { gift: { balance: 2500, credits: 2500, locked_credits: 0 } },
    });
    expect(redeemables.data[2].applicable_to).toMatchObject({
      data: [{ object: "product", id: book["id"], order_item_indices: [1] }],
    });
    expect(redeemables.data[3]).toMatchObject({
      object: "promotion_tier",
      created_at: expect.stringMatching(/Z$/),
      result: { discount: { type: "PERCENT", percent_off: 10, effect: "APPLY_TO_ORDER" } },
    });
    expect(response).toMatchObject({
      tracking_id: expect.stringMatching(/^track_/),
      order: { amount: 11_500, total_amount: 11_500, total_applied_discount_amount: 0 },
      stacking_rules: { redeemables_limit: 30, redeemables_application_mode: "ALL" },
    });
    expect(response).not.toHaveProperty("inapplicable_redeemables");

    const ranked = (rule: string) => names({ ...body, options: { sorting_rule: rule } });
    expect(await ranked("BEST_DEAL")).toEqual(["GIFT", "ten percent", "TOOL10", "BOOK20"]);
    expect(await ranked("LEAST_DEAL")).toEqual(["BOOK20", "TOOL10", "ten percent", "GIFT"]);
  });

  test("consider public redeemables and the customer's own, as long as they are redeemable", async () => {
    const shop = await createBuilders();
    const { api, voucher, tier, gift, publish, names } = shop;
    const campaign = async (type: string, voucherBody: Json, more: Json = {}) =>
      ok(
        api.post("/v1/campaigns", {
          name: newCode("camp"),
          type,
          campaign_type: "DISCOUNT_COUPONS",
          voucher: { type: "DISCOUNT_VOUCHER", discount: percent(10), ...voucherBody },
          ...more,
        }),
      );
    await voucher("PLAIN");
    await gift("CARD", 500);
    await gift("EMPTY", 0);
    await voucher("OFF", { active: false });
    await voucher("OVER", { expiration_date: "2020-01-01T00:00:00Z" });
    await voucher("SOON", { start_date: "2099-01-01T00:00:00Z" });
    await voucher("ONCE", { redemption: { quantity: 1 } });
    await voucher("POINTS", {
      type: "LOYALTY_CARD",
      discount: null,
      loyalty_card: { points: 100 },
    });
    await voucher("ANNS");
    await publish("ANNS", "ann");
    await voucher("BOBS");
    await publish("BOBS", "bob");
    await campaign("STATIC", {}, { vouchers_count: 2 });
    await campaign("STANDALONE", { code: "EVERYBODYS" });
    const referral = await campaign("AUTO_UPDATE", {}, { campaign_type: "REFERRAL_PROGRAM" });
    await ok(
      api.post("/v1/publications", {
        campaign: { name: referral["name"] },
        customer: { source_id: "ann" },
      }),
    );
    await tier("on");
    await tier("off", { active: false });
    await tier("later", { start_date: "2099-01-01T00:00:00Z" });
    const order = { amount: 1000 };
    const redeemed = await api.post("/v1/vouchers/ONCE/redemption", { order });
    expect(redeemed.status, redeemed.text).toBe(200);

    expect(await names({ order })).toEqual(["on", "EVERYBODYS", "CARD", "PLAIN"]);
    expect(await names({ order, customer: { source_id: "ann" } })).toEqual([
      "on",
      "EVERYBODYS",
      "ANNS",
      "CARD",
      "PLAIN",
    ]);
    const unknown = { source_id: "nobody" };
    expect(await names({ order, customer: unknown })).toEqual([
      "on",
      "EVERYBODYS",
      "CARD",
      "PLAIN",
    ]);

    const assigned = await campaign("AUTO_UPDATE", {});
    const published = await ok(
      api.post("/v1/publications", {
        campaign: { name: assigned["name"] },
        customer: { source_id: "ann" },
      }),
    );
    const wallet = { scenario: "CUSTOMER_WALLET", order };
    expect(await names({ ...wallet, customer: { source_id: "ann" } })).toEqual([
      published["voucher"].code,
      "ANNS",
    ]);
    expect(await names(wallet)).toEqual([]);
  });

  test("return every redeemable once across pages, including those created at the same instant", async () => {
    const { id, voucher, tier, qualify, nameOf } = await createBuilders({ sandbox: true });
    const now = "2026-12-01T10:00:00Z";
    await ok(managementApi(stack).put(`/management/v1/projects/${id}/clock`, { now }));
    const createdNames: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      await voucher(`CODE${count}`, { discount: percent(1 + (count % 3)) });
      createdNames.push(`CODE${count}`);
      if (count % 2 === 0) {
        await tier(`tier${count}`);
        createdNames.push(`tier${count}`);
      }
    }
    const order = { amount: 1000 };
    const readAll = async (options: Json): Promise<string[]> => {
      const seen: string[] = [];
      for (let page = 0, after = {}; page < 20; page += 1) {
        const response = await qualify({ order, options: { ...options, ...after } });
        const {
          data,
          total,
          has_more: hasMore,
          more_starting_after: more,
        } = response["redeemables"];
        expect(total).toBe(data.length);
        expect(more === undefined).toBe(!hasMore);
        seen.push(...data.map(nameOf));
        if (!hasMore) break;
        expect(Number.isNaN(Date.parse(more))).toBe(false);
        after = { starting_after: more };
      }
      return seen;
    };
    expect(await readAll({ limit: 3 })).toEqual(createdNames.toReversed());
    const ranked = await readAll({ limit: 2, sorting_rule: "BEST_DEAL" });
    expect(ranked).toEqual(await readAll({ limit: 50, sorting_rule: "BEST_DEAL" }));
    expect(ranked.toSorted()).toEqual(createdNames.toSorted());
    const worst = await readAll({ limit: 4, sorting_rule: "LEAST_DEAL" });
    expect(worst.slice(0, 3)).toEqual(["CODE6", "CODE3", "CODE0"]);
    expect(worst).toHaveLength(createdNames.length);
    // A date-time of the caller's choice is accepted as a cursor as well.
    const before = { starting_after: "2026-12-01T10:00:00.000Z" };
    expect(await readAll(before)).toEqual([]);
    expect(await readAll({ starting_after: "2026-12-01T11:00:00+01:00", limit: 2 })).toEqual([]);
    expect(await readAll({ starting_after: "2026-12-01T10:00:00.001Z" })).toHaveLength(
      createdNames.length,
    );
  });

  test("examine at most ten thousand vouchers per page, and continue after them", async () => {
    const { id, voucher, tier, qualify } = await createBuilders();
    await voucher("OLD");
    await tier("tier");
    await insertExhaustedVouchers(stack.databaseUrl, id, 10_500);
    const qualifyAfter = (after: Json = {}): Promise<Json> =>
      qualify({ order: { amount: 1000 }, options: after });
    const first = (await qualifyAfter())["redeemables"];
    expect(first).toMatchObject({ data: [], total: 0, has_more: true });
    const second = (await qualifyAfter({ starting_after: first.more_starting_after }))[
      "redeemables"
    ];
    expect(second).toMatchObject({
      data: [{ object: "promotion_tier" }, { id: "OLD" }],
      has_more: false,
    });
  });

  test("return a plain date-time as the cursor where it is unambiguous", async () => {
    const { id, voucher, qualify } = await createBuilders({ sandbox: true });
    const clock = `/management/v1/projects/${id}/clock`;
    for (const day of ["01", "02", "03"]) {
      await ok(managementApi(stack).put(clock, { now: `2026-12-${day}T10:00:00Z` }));
      await voucher(`DAY${day}`);
    }
    const first = await qualify({ order: { amount: 100 }, options: { limit: 1 } });
    expect(first["redeemables"]).toMatchObject({
      data: [{ id: "DAY03", created_at: "2026-12-03T10:00:00.000Z" }],
      has_more: true,
      more_starting_after: "2026-12-03T10:00:00.000Z",
    });
  });

  test("reject invalid requests and unknown customers", async () => {
    const { api } = await createBuilders();
    const cases: readonly (readonly [Json, ...unknown[]])[] = [
      [
        { options: { starting_after: "yesterday" } },
        400,
        "invalid_payload",
        "Property .options.starting_after must be an ISO 8601 date-time",
      ],
      [
        { options: { filters: { color: { conditions: { $is: ["x"] } } } } },
        400,
        "invalid_payload",
        "Unknown filter field color",
      ],
      [
        { options: { limit: 51 } },
        400,
        "invalid_payload",
        "Property .options.limit cannot be higher than 50",
      ],
      [
        { options: { limit: 0 } },
        400,
        "invalid_payload",
        "Property .options.limit cannot be lower than 1",
      ],
      [{ options: { sorting_rule: "NICEST" } }, 400, "invalid_payload"],
      [{ scenario: "EVERYTHING" }, 400, "invalid_payload"],
      [{ customer: { id: "cust_none" } }, 404, "not_found", "customer"],
      [{ order: { id: "ord_none" } }, 404, "not_found", "order"],
      [{ order: { items: [{ price: 5, quantity: 2 ** 52 }] } }, 400, "invalid_order"],
      [{ tracking_id: "bob", customer: { source_id: "ann" } }, 400, "ambiguous_tracking_id"],
    ];
    for (const [body, ...expected] of cases) {
      const rejected = await errorOf(api.post("/v1/qualifications", body));
      expect(rejected.slice(0, expected.length), JSON.stringify(body)).toEqual(expected);
    }
  });
});

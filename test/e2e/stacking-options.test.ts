import { describe, expect, test } from "vitest";

import { type Json, managementApi, newCode, newProject } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

/** A voucher of a scenario: its discount, and `common` or its category. */
type VoucherSpec = { readonly in: "first" | "second" | "common"; readonly discount: Json };

/** Stacking rules; category lists contain the names of the categories. */
type Scenario = {
  readonly name: string;
  readonly options: (ids: { readonly first: string; readonly second: string }) => Json;
  readonly vouchers: readonly VoucherSpec[];
  /** In processing order: the position in the request, and `key` when it was skipped. */
  readonly expected: readonly (readonly [position: number, status: string])[];
  /** Total discount on an order of 100.00. */
  readonly discount: number;
};

const amount = (cents: number): Json => ({ type: "AMOUNT", amount_off: cents });
const percent = (off: number): Json => ({ type: "PERCENT", percent_off: off });
const common = (discount: Json): VoucherSpec => ({ in: "common", discount });
const first = (discount: Json): VoucherSpec => ({ in: "first", discount });
const second = (discount: Json): VoucherSpec => ({ in: "second", discount });

const APPLICABLE = "APPLICABLE";
const EVERYTHING = amount(100_00);

/** Covers every option (docs/stacking.md#settings). The category `first` has the lower hierarchy. */
const SCENARIOS: readonly Scenario[] = [
  {
    name: "applicable_redeemables_limit",
    options: () => ({ applicable_redeemables_limit: 1 }),
    vouchers: [common(amount(100)), common(amount(200))],
    expected: [
      [0, APPLICABLE],
      [1, "applicable_redeemables_limit_exceeded"],
    ],
    discount: 100,
  },
  {
    name: "applicable_redeemables_per_category_limit",
    options: () => ({ applicable_redeemables_per_category_limit: 1 }),
    vouchers: [first(amount(100)), first(amount(200)), second(amount(400)), common(amount(800))],
    expected: [
      [0, APPLICABLE],
      [1, "applicable_redeemables_per_category_limit_exceeded"],
      [2, APPLICABLE],
      [3, APPLICABLE],
    ],
    discount: 1_300,
  },
  {
    name: "applicable_redeemables_category_limits",
    options: (ids) => ({
      applicable_redeemables_per_category_limit: 1,
      applicable_redeemables_category_limits: { [ids.first]: 2 },
    }),
    vouchers: [first(amount(100)), first(amount(200)), second(amount(400)), second(amount(800))],
    expected: [
      [0, APPLICABLE],
      [1, APPLICABLE],
      [2, APPLICABLE],
      [3, "applicable_redeemables_per_category_limit_exceeded"],
    ],
    discount: 700,
  },
  {
    name: "exclusive_categories",
    options: (ids) => ({ exclusive_categories: [ids.first] }),
    vouchers: [common(amount(100)), first(amount(200))],
    expected: [
      [0, "exclusion_rules_not_met"],
      [1, APPLICABLE],
    ],
    discount: 200,
  },
  {
    name: "applicable_exclusive_redeemables_limit by default",
    options: (ids) => ({ exclusive_categories: [ids.first, ids.second] }),
    vouchers: [first(amount(100)), second(amount(200))],
    expected: [
      [0, APPLICABLE],
      [1, "applicable_exclusive_redeemables_limit_exceeded"],
    ],
    discount: 100,
  },
  {
    name: "applicable_exclusive_redeemables_limit",
    options: (ids) => ({
      exclusive_categories: [ids.first, ids.second],
      applicable_exclusive_redeemables_limit: 2,
    }),
    vouchers: [first(amount(100)), second(amount(200)), first(amount(400))],
    expected: [
      [0, APPLICABLE],
      [1, APPLICABLE],
      [2, "applicable_exclusive_redeemables_limit_exceeded"],
    ],
    discount: 300,
  },
  {
    name: "applicable_exclusive_redeemables_per_category_limit by default",
    options: (ids) => ({
      exclusive_categories: [ids.first],
      applicable_exclusive_redeemables_limit: 5,
    }),
    vouchers: [first(amount(100)), first(amount(200))],
    expected: [
      [0, APPLICABLE],
      [1, "applicable_exclusive_redeemables_per_category_limit_exceeded"],
    ],
    discount: 100,
  },
  {
    name: "applicable_exclusive_redeemables_per_category_limit",
    options: (ids) => ({
      exclusive_categories: [ids.first],
      applicable_exclusive_redeemables_limit: 5,
      applicable_exclusive_redeemables_per_category_limit: 2,
    }),
    vouchers: [first(amount(100)), first(amount(200)), first(amount(400))],
    expected: [
      [0, APPLICABLE],
      [1, APPLICABLE],
      [2, "applicable_exclusive_redeemables_per_category_limit_exceeded"],
    ],
    discount: 300,
  },
  {
    name: "joint_categories, which are processed last",
    options: (ids) => ({ exclusive_categories: [ids.first], joint_categories: [ids.second] }),
    vouchers: [second(amount(10_00)), first(percent(50)), common(amount(100))],
    expected: [
      [1, APPLICABLE],
      [2, "exclusion_rules_not_met"],
      [0, APPLICABLE],
    ],
    discount: 60_00,
  },
  {
    name: "grouped_redeemables_sorting_rule",
    options: (ids) => ({
      exclusive_categories: [ids.first],
      joint_categories: [ids.second],
      grouped_redeemables_sorting_rule: "SORTING_RULE_ORDER",
    }),
    vouchers: [second(amount(10_00)), first(percent(50))],
    expected: [
      [0, APPLICABLE],
      [1, APPLICABLE],
    ],
    discount: 55_00,
  },
  {
    name: "a category listed as both exclusive and joint, which is treated as joint",
    options: (ids) => ({ exclusive_categories: [ids.first], joint_categories: [ids.first] }),
    vouchers: [common(amount(100)), first(amount(200))],
    expected: [
      [0, APPLICABLE],
      [1, APPLICABLE],
    ],
    discount: 300,
  },
  {
    name: "redeemables_sorting_rule",
    options: () => ({ redeemables_sorting_rule: "CATEGORY_HIERARCHY" }),
    vouchers: [common(amount(100)), second(amount(10_00)), first(percent(50))],
    expected: [
      [2, APPLICABLE],
      [1, APPLICABLE],
      [0, APPLICABLE],
    ],
    discount: 61_00,
  },
  {
    name: "redeemables_no_effect_rule by default",
    options: () => ({}),
    vouchers: [common(EVERYTHING), common(amount(100))],
    expected: [
      [0, APPLICABLE],
      [1, APPLICABLE],
    ],
    discount: 100_00,
  },
  {
    name: "redeemables_no_effect_rule",
    options: () => ({ redeemables_no_effect_rule: "SKIP" }),
    vouchers: [common(EVERYTHING), common(amount(100))],
    expected: [
      [0, APPLICABLE],
      [1, "no_effect"],
    ],
    discount: 100_00,
  },
  {
    name: "no_effect_skip_categories",
    options: (ids) => ({ no_effect_skip_categories: [ids.first] }),
    vouchers: [common(EVERYTHING), first(amount(100)), second(amount(100))],
    expected: [
      [0, APPLICABLE],
      [1, "no_effect"],
      [2, APPLICABLE],
    ],
    discount: 100_00,
  },
  {
    name: "no_effect_redeem_anyway_categories",
    options: (ids) => ({
      redeemables_no_effect_rule: "SKIP",
      no_effect_redeem_anyway_categories: [ids.first, ids.second],
      no_effect_skip_categories: [ids.second],
    }),
    vouchers: [common(EVERYTHING), first(amount(100)), second(amount(100))],
    expected: [
      [0, APPLICABLE],
      [1, APPLICABLE],
      [2, "no_effect"],
    ],
    discount: 100_00,
  },
  {
    name: "discount_calculation_mode by default",
    options: () => ({}),
    vouchers: [common(percent(10)), common(percent(20))],
    expected: [
      [0, APPLICABLE],
      [1, APPLICABLE],
    ],
    discount: 28_00,
  },
  {
    name: "discount_calculation_mode",
    options: () => ({ discount_calculation_mode: "INITIAL_AMOUNT" }),
    vouchers: [common(percent(10)), common(percent(20))],
    expected: [
      [0, APPLICABLE],
      [1, APPLICABLE],
    ],
    discount: 30_00,
  },
  {
    name: "initial_amount_mode_categories",
    options: (ids) => ({ initial_amount_mode_categories: [ids.first] }),
    vouchers: [common(percent(10)), first(percent(20)), second(percent(10))],
    expected: [
      [0, APPLICABLE],
      [1, APPLICABLE],
      [2, APPLICABLE],
    ],
    discount: 37_00,
  },
  {
    name: "discounted_amount_mode_categories",
    options: (ids) => ({
      discount_calculation_mode: "INITIAL_AMOUNT",
      discounted_amount_mode_categories: [ids.first],
    }),
    vouchers: [common(percent(10)), first(percent(20)), second(percent(10))],
    expected: [
      [0, APPLICABLE],
      [1, APPLICABLE],
      [2, APPLICABLE],
    ],
    discount: 38_00,
  },
];

describe.each(COMPOSITIONS)("stacking options (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const management = managementApi(stack);

  test.each(SCENARIOS)("$name", async ({ options, vouchers, expected, discount }) => {
    const shop = await createFixtures();
    await shop.set(options(shop.ids));
    const codes = await Promise.all(vouchers.map((one) => shop.voucher(one)));
    const response = await shop.api.post("/v1/validations", {
      redeemables: codes.map((id) => ({ object: "voucher", id })),
      order: { amount: 100_00 },
    });
    expect(response.status, response.text).toBe(200);
    const results = response.body["redeemables"] as readonly Json[];
    expect(
      results.map(({ id, status, result }) => [
        codes.indexOf(id),
        status === "SKIPPED" ? result.details.key : status,
      ]),
    ).toEqual(expected);
    expect(response.body["valid"]).toBe(true);
    expect(response.body["order"].total_applied_discount_amount).toBe(discount);
  });

  test("redeemables_limit: more redeemables than the limit are rejected", async () => {
    const shop = await createFixtures();
    await shop.set({ redeemables_limit: 1 });
    const response = await shop.api.post("/v1/validations", {
      redeemables: ["A", "B"].map((id) => ({ object: "voucher", id })),
    });
    expect([response.status, response.body["key"]]).toEqual([400, "invalid_payload"]);
  });

  test("redeemables_application_mode: decides whether inapplicable redeemables fail the request", async () => {
    const shop = await createFixtures();
    const codes = [await shop.voucher(common(amount(100))), newCode("UNKNOWN")];
    const validate = () =>
      shop.api.post("/v1/validations", {
        redeemables: codes.map((id) => ({ object: "voucher", id })),
        order: { amount: 100_00 },
      });
    expect((await validate()).body["valid"]).toBe(false);
    await shop.set({ redeemables_application_mode: "PARTIAL" });
    const partial = (await validate()).body;
    expect(partial["valid"]).toBe(true);
    expect(partial["redeemables"].map(({ id }: Json) => id)).toEqual([codes[0]]);
    expect(partial["inapplicable_redeemables"].map(({ id }: Json) => id)).toEqual([codes[1]]);
    expect(partial["stacking_rules"].redeemables_application_mode).toBe("PARTIAL");
  });

  test("redeemables_products_application_mode: decides whether one item can be discounted repeatedly", async () => {
    const shop = await createFixtures();
    const line = { ...percent(10), effect: "APPLY_TO_ITEMS" };
    const codes = [await shop.voucher(common(line)), await shop.voucher(common(line))];
    const discount = async (): Promise<number> => {
      const { body, text } = await shop.api.post("/v1/validations", {
        redeemables: codes.map((id) => ({ object: "voucher", id })),
        order: { items: [{ quantity: 1, price: 100_00 }] },
      });
      expect(body["valid"], text).toBe(true);
      return body["order"].total_applied_discount_amount;
    };
    expect(await discount()).toBe(19_00);
    await shop.set({ redeemables_products_application_mode: "ONCE" });
    expect(await discount()).toBe(10_00);
  });

  test("redeemables_rollback_order_mode: decides whether a rollback changes the order", async () => {
    const shop = await createFixtures();
    const rolledBack = async (): Promise<Json> => {
      const code = await shop.voucher(common(amount(10_00)));
      const redeemed = await shop.api.post(`/v1/vouchers/${code}/redemption`, {
        order: { source_id: newCode("order"), amount: 100_00 },
      });
      expect(redeemed.status, redeemed.text).toBe(200);
      const path = `/v1/redemptions/${redeemed.body["id"]}/rollback`;
      const response = await shop.api.post(path, {});
      expect(response.status, response.text).toBe(200);
      return (await shop.api.get(`/v1/orders/${redeemed.body["order"].id}`)).body;
    };
    expect(await rolledBack()).toMatchObject({ status: "CANCELED", total_amount: 100_00 });
    await shop.set({ redeemables_rollback_order_mode: "WITHOUT_ORDER" });
    expect(await rolledBack()).toMatchObject({ status: "PAID", total_amount: 90_00 });
  });

  test("a deleted category has no effect on stacking", async () => {
    const shop = await createFixtures();
    await shop.set({ exclusive_categories: [shop.ids.first] });
    const codes = [await shop.voucher(common(amount(100))), await shop.voucher(first(amount(200)))];
    expect((await shop.api.delete(`/v1/categories/${shop.ids.first}`)).status).toBe(204);
    // Cached categories may be one second old.
    await expect
      .poll(async () => {
        const response = await shop.api.post("/v1/validations", {
          redeemables: codes.map((id) => ({ object: "voucher", id })),
          order: { amount: 100_00 },
        });
        return response.body["order"].total_applied_discount_amount;
      })
      .toBe(300);
    const { data } = (await management.get(shop.path)).body;
    const put = await management.put(`${shop.path}/${data[0].id}`, { redeemables_limit: 9 });
    expect(put.status, put.text).toBe(200);
  });

  async function createFixtures() {
    const { id, api } = await newProject(stack);
    const category = async (name: string, hierarchy: number): Promise<string> =>
      (await api.post("/v1/categories", { name, hierarchy })).body["id"];
    const ids = { first: await category("first", 1), second: await category("second", 2) };
    const path = `/management/v1/projects/${id}/stacking-rules`;
    return {
      api,
      ids,
      path,
      async set(options: Json) {
        const response = await management.post(path, options);
        expect(response.status, response.text).toBe(200);
      },
      async voucher(one: VoucherSpec): Promise<string> {
        const code = newCode("STACK");
        const response = await api.post("/v1/vouchers", {
          code,
          type: "DISCOUNT_VOUCHER",
          discount: one.discount,
          ...(one.in !== "common" && { category_id: ids[one.in] }),
        });
        expect(response.status, response.text).toBe(200);
        return code;
      },
    };
  }
});

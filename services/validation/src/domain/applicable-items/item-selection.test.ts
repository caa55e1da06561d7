import {
  type ScopeEntryDefinition,
  type UnitBudgetName,
  parseFormula,
  countKey,
} from "@scrip/rules";
import { describe, expect, test } from "vitest";

import {
  buildCampaign,
  buildCustomer,
  buildDiscount,
  buildDiscountVoucher,
  buildScopeEntry,
  buildLine,
  buildOrder,
  buildRule,
  buildTier,
  evaluateRedeemables,
  voucherRedeemable,
  buildRequest,
  tierRedeemable,
} from "../../../test/builders.ts";
import { countsToLoad } from "../counts/rule-counts.ts";
import type { DecisionRequest } from "../decision/decision-request.ts";
import type { ApplicableRedeemable } from "../decision/decision.ts";
import type { LineSnapshot } from "../input/order.ts";
import type { MatchedScope } from "./matched-scope.ts";

const half = buildDiscount({ type: "PERCENT", percentOff: "50", effect: "APPLY_TO_ITEMS" });

const scopeRule = (
  included: readonly Partial<ScopeEntryDefinition>[],
  excluded: readonly Partial<ScopeEntryDefinition>[] = [],
) =>
  buildRule(
    "val_scope",
    {},
    {
      applicableTo: {
        included: included.map(buildScopeEntry),
        excluded: excluded.map(buildScopeEntry),
        includedAll: false,
      },
    },
  );

const line = (
  quantity: bigint,
  snapshot: Partial<Omit<LineSnapshot, "prices">> = {},
): LineSnapshot =>
  buildLine({ productId: "prod_1", quantity, prices: { line: 1000n }, ...snapshot });

function applied(request: Partial<DecisionRequest>): ApplicableRedeemable {
  const [evaluated] = evaluateRedeemables(request);
  if (evaluated?.status !== "APPLICABLE") throw new Error(`it is ${evaluated?.status}`);
  return evaluated;
}

describe("a budget of units", () => {
  const campaign = buildCampaign({ id: "camp_1" });
  const budget = (name: UnitBudgetName, limit: bigint | null, formula: string | null = null) => ({
    budgets: [{ name, limit, formula }],
  });
  const budgetRequest = (entry: Partial<ScopeEntryDefinition>, quantity: bigint, used: bigint) => {
    const voucher = buildDiscountVoucher("CODE", half, { campaign, rules: [scopeRule([entry])] });
    const request = {
      redeemables: [voucherRedeemable(voucher)],
      order: buildOrder({ lines: [line(quantity)] }),
      customer: buildCustomer({ id: "cust_1" }),
    };
    const [name] = countsToLoad(request.redeemables, buildRequest(request));
    if (name === undefined) throw new Error("no count is needed");
    return { name, request: { ...request, counts: new Map([[countKey(name), used]]) } };
  };

  // docs/order-calculation.md#selecting-lines-and-units
  test.each([
    [5n, 0n, 5n],
    [4n, 5n, 4n],
    [3n, 9n, 1n],
    [3n, 10n, 0n],
    [3n, 12n, 0n],
  ])(
    "with a limit of 10: of %i units, after %i sold, discounts %i",
    (quantity, used, discounted) => {
      const { request } = budgetRequest(budget("product_campaign", 10n), quantity, used);
      const { order, units } = applied(request);
      expect(order?.itemsDiscountAmount).toBe(discounted * 500n);
      expect(units).toEqual(
        discounted === 0n ? [] : [{ productId: "prod_1", quantity: discounted }],
      );
      expect(order?.lines[0]?.discountQuantity).toBe(discounted < quantity ? discounted : 0n);
    },
  );

  test("returns a guard without a rejection, so that an exceeded budget is decided again", () => {
    const { request, name } = budgetRequest(budget("product_campaign", 10n), 3n, 9n);
    expect(applied(request).guards).toEqual([
      {
        count: name,
        add: 1n,
        conditions: { $less_than_or_equal: [10] },
        rejection: null,
      },
    ]);
  });

  test("is part of the explanation with its usage", () => {
    const { request } = budgetRequest(budget("product_campaign", 10n), 3n, 10n);
    expect(applied({ ...request, explain: true }).explanation?.steps).toContainEqual({
      kind: "limit",
      passed: false,
      message: "10 of 10 units of prod_1 were discounted before",
      used: 10n,
      limit: 10n,
    });
  });

  test("needs no guard if nothing is discounted", () => {
    const { request } = budgetRequest(budget("product_campaign", 10n), 3n, 10n);
    expect(applied(request).guards).toEqual([]);
  });

  test.each([
    ["product_campaign", { kind: "campaign", id: "camp_1" }, null],
    ["product_customer_campaign", { kind: "campaign", id: "camp_1" }, "cust_1"],
    ["product_in_collection_campaign", { kind: "campaign", id: "camp_1" }, null],
  ] as const)("%s counts units by product within its scope", (name, scope, customerId) => {
    expect(budgetRequest(budget(name, 1n), 1n, 0n).name).toEqual({
      scope,
      measure: "UNITS",
      customerId,
      channelId: null,
      since: null,
      productId: "prod_1",
    });
  });

  test("counts the units of its promotion tier", () => {
    const rules = [scopeRule([budget("product_customer_promotion_tier", 2n)])];
    const tier = buildTier({ id: "promo_1", discount: half, rules });
    const request = {
      redeemables: [tierRedeemable(tier)],
      order: buildOrder({ lines: [line(5n)] }),
      customer: buildCustomer({ id: "cust_1" }),
    };
    expect(countsToLoad(request.redeemables, buildRequest(request))).toMatchObject([
      { scope: { kind: "promotion_tier", id: "promo_1" }, customerId: "cust_1" },
    ]);
    expect(applied(request).units).toEqual([{ productId: "prod_1", quantity: 2n }]);
  });

  test("uses the value of its formula, rounded down", () => {
    const formula = "ORDER_UNITS_QUANTITY / 2";
    expect(parseFormula(formula).kind).toBe("formula");
    const { request } = budgetRequest(budget("product_campaign", 9n, formula), 5n, 0n);
    expect(applied(request).units).toEqual([{ productId: "prod_1", quantity: 2n }]);
    const missing = budgetRequest(budget("product_campaign", 4n, 'CUSTOMER_METADATA("n")'), 5n, 0n);
    expect(applied(missing.request).units).toEqual([{ productId: "prod_1", quantity: 4n }]);
  });

  test("is shared by all lines of a product", () => {
    const entry = budget("product_campaign", 4n);
    const voucher = buildDiscountVoucher("CODE", half, { campaign, rules: [scopeRule([entry])] });
    const { order, units } = applied({
      redeemables: [voucherRedeemable(voucher)],
      order: buildOrder({ lines: [line(3n), line(3n)] }),
    });
    expect(order?.lines.map(({ discountAmount }) => discountAmount)).toEqual([1500n, 500n]);
    expect(units).toEqual([{ productId: "prod_1", quantity: 4n }]);
  });

  test("is shared by all redeemables of a request", () => {
    const rules = [scopeRule([budget("product_campaign", 4n)])];
    const redeemables = ["A", "B"].map((code) =>
      voucherRedeemable(buildDiscountVoucher(code, half, { id: `v_${code}`, campaign, rules })),
    );
    const evaluated = evaluateRedeemables({
      redeemables,
      order: buildOrder({ lines: [line(3n)] }),
    });
    expect(evaluated.map((one) => one.status === "APPLICABLE" && one.units)).toEqual([
      [{ productId: "prod_1", quantity: 3n }],
      [{ productId: "prod_1", quantity: 1n }],
    ]);
  });
});

describe("the applicable items of a redeemable", () => {
  const reach = (
    included: readonly Partial<ScopeEntryDefinition>[],
    excluded: readonly Partial<ScopeEntryDefinition>[],
    lines: readonly LineSnapshot[],
  ): MatchedScope =>
    applied({
      redeemables: [
        voucherRedeemable(
          buildDiscountVoucher("CODE", half, { rules: [scopeRule(included, excluded)] }),
        ),
      ],
      order: buildOrder({ lines }),
    }).scope;

  test("lists the lines of each entry in the order in which they were discounted", () => {
    const cheapest = { effect: "APPLY_FROM_CHEAPEST", object: "product" };
    const lines = [
      line(1n, { amount: 900n }),
      line(1n, { productId: "prod_2" }),
      line(1n, { productId: "prod_3", productSourceId: "third" }),
      line(2n),
    ];
    const { applicable, inapplicable } = reach(
      [cheapest, { id: "prod_9" }],
      [{ id: "prod_3" }],
      lines,
    );
    expect(applicable).toMatchObject([
      { id: "prod_1", orderItemIndices: [0, 3], orderItemUnits: [] },
      { id: "prod_9", orderItemIndices: [] },
    ]);
    expect(inapplicable).toMatchObject([
      { id: "prod_3", sourceId: "third", orderItemIndices: [2] },
    ]);
  });

  test("adds the product to a SKU", () => {
    const snapshot = { skuId: "sku_1", skuSourceId: "small", productSourceId: "shirt" };
    expect(
      reach([{ object: "sku", id: "sku_1" }], [], [line(1n, snapshot)]).applicable,
    ).toMatchObject([{ sourceId: "small", productId: "prod_1", productSourceId: "shirt" }]);
  });

  test("adds the id to an entry with a source id only", () => {
    const snapshot = { skuId: "sku_1", skuSourceId: "small", productSourceId: "shirt" };
    const bySource = [
      { object: "sku", id: null, sourceId: "small" },
      { object: "product", id: null, sourceId: "shirt" },
      { object: "product", id: null, sourceId: "elsewhere" },
    ];
    const lines = [line(1n, snapshot), line(1n, { productSourceId: "shirt" })];
    expect(reach(bySource, [], lines).applicable).toMatchObject([
      { id: "sku_1", orderItemIndices: [0] },
      { id: "prod_1", orderItemIndices: [1] },
      { id: null, orderItemIndices: [] },
    ]);
  });

  test("lists the units if only a part of a line is discounted", () => {
    const entry = { effect: "APPLY_FROM_CHEAPEST", target: "UNIT", skipInitially: 1n, repeat: 2n };
    // The line with one unit has the lower subtotal, so its unit is the first of five.
    expect(reach([entry], [], [line(4n), line(1n)]).applicable).toMatchObject([
      { orderItemIndices: [0], orderItemUnits: [{ index: 0, units: [1n, 3n] }] },
    ]);
  });

  test("does not list units of orders with more than a thousand", () => {
    const [entry] = reach([{ quantityLimit: 2n }], [], [line(1000n)]).applicable;
    expect(entry?.orderItemUnits).toEqual([{ index: 0, units: [1n, 2n] }]);
    const [many] = reach([{ quantityLimit: 2n }], [], [line(1001n)]).applicable;
    expect(many?.orderItemUnits).toEqual([{ index: 0, units: null }]);
  });
});

import { describe, expect, test } from "vitest";

import {
  type DiscountInput,
  amountOff,
  buildDiscount,
  buildDiscountVoucher,
  buildScopeEntry,
  buildLine,
  buildOrder,
  buildRule,
  buildTier,
  evaluateRedeemables,
  percentOff,
  voucherRedeemable,
  evaluateRejected,
  tierRedeemable,
} from "../../../test/builders.ts";
import { itemsToLoad } from "../catalogue/items-to-load.ts";
import type { DecisionRequest } from "../decision/decision-request.ts";
import type { ApplicableRedeemable } from "../decision/decision.ts";
import type { CatalogueItem } from "../input/catalogue-item.ts";
import type { LineSnapshot } from "../input/order.ts";
import type { VoucherSnapshot } from "../input/voucher.ts";
import { MAX_AMOUNT } from "../order/order-state.ts";
import { DEFAULT_STACKING_RULES as STACKING } from "../stacking/stacking-rules.ts";

const buildItem = (item: Partial<CatalogueItem> = {}): CatalogueItem => ({
  productId: "mug",
  skuId: null,
  productSourceId: null,
  skuSourceId: null,
  name: null,
  skuLabel: null,
  price: 1000n,
  productPrice: 1000n,
  metadata: {},
  productMetadata: {},
  collections: [],
  ...item,
});

const giving = (units: Partial<DiscountInput>, voucher: Partial<VoucherSnapshot> = {}) => {
  const sent = { type: "UNIT", effect: "ADD_NEW_ITEMS", unitOff: 1n, unitType: "mug" } as const;
  const code = voucher.code ?? "UNITS";
  const discount = buildDiscount({ ...sent, ...units });
  return voucherRedeemable(buildDiscountVoucher(code, discount, { id: `v_${code}`, ...voucher }));
};

const catalogue = new Map([["mug", buildItem()]]);

const line = (productId: string, quantity: bigint, price: bigint | null = 1000n): LineSnapshot =>
  buildLine({ productId, quantity, prices: { line: price } });

function appliedIn(request: Partial<DecisionRequest>): readonly ApplicableRedeemable[] {
  return evaluateRedeemables({ catalogue, ...request }).map((evaluated) => {
    if (evaluated.status !== "APPLICABLE") throw new Error(`it is ${evaluated.status}`);
    return evaluated;
  });
}

const linesOf = (applied: ApplicableRedeemable | undefined) =>
  applied?.order?.lines.map(({ quantity, discountAmount }) => [quantity, discountAmount]);

describe("free units", () => {
  test("are of a product with the given id if the catalogue does not contain it", () => {
    const [applied] = appliedIn({
      redeemables: [giving({ unitType: "nobody" })],
      order: buildOrder({ lines: [line("mug", 1n)] }),
    });
    expect(applied?.order).toMatchObject({
      amount: 1000n,
      lines: [{}, { addedItem: { productId: "nobody" }, price: null, quantity: 1n, amount: 0n }],
    });
    expect(applied?.benefit).toMatchObject({ grants: [{ item: null, unitOff: 1n }] });
  });

  test("are added to a line with the product's source id", () => {
    const lines = [buildLine({ productSourceId: "nobody", quantity: 1n, prices: { line: 50n } })];
    const [applied] = appliedIn({
      redeemables: [giving({ unitType: "nobody", unitOff: 2n })],
      order: buildOrder({ lines }),
    });
    expect(linesOf(applied)).toEqual([[3n, 100n]]);
  });

  test("have the price of the line to which they are added", () => {
    const [applied] = appliedIn({
      redeemables: [giving({})],
      order: buildOrder({ lines: [line("mug", 1n, 700n)] }),
    });
    expect(applied?.order).toMatchObject({ amount: 1400n, totalAmount: 700n });
  });

  test("are an effect even if nothing is discounted", () => {
    const order = buildOrder({ lines: [line("poster", 1n)] });
    const skipping = { redeemablesNoEffectRule: "SKIP" } as const;
    const [evaluated] = evaluateRedeemables({
      redeemables: [giving({})],
      order,
      catalogue,
      stacking: { ...STACKING, ...skipping },
    });
    expect(evaluated?.status).toBe("APPLICABLE");
    const [none] = evaluateRedeemables({
      redeemables: [giving({ unitOff: 0n })],
      order,
      catalogue,
      stacking: { ...STACKING, ...skipping },
    });
    expect(none).toMatchObject({ status: "SKIPPED", skip: { key: "no_effect" } });
  });

  test("are counted as discounted units by product", () => {
    const [applied] = appliedIn({
      redeemables: [giving({ effect: "ADD_MISSING_ITEMS", unitOff: 3n })],
      order: buildOrder({ lines: [line("mug", 2n), line("mug", 2n)] }),
    });
    expect(applied?.units).toEqual([{ productId: "mug", quantity: 3n }]);
    expect(linesOf(applied)).toEqual([
      [2n, 2000n],
      [2n, 1000n],
    ]);
  });

  test("are limited to the amount left to pay", () => {
    const [, applied] = appliedIn({
      redeemables: [
        voucherRedeemable(buildDiscountVoucher("AMOUNT", amountOff(1500n), { id: "v_1" })),
        giving({ effect: "ADD_MISSING_ITEMS", unitOff: 2n }),
      ],
      order: buildOrder({ lines: [line("mug", 2n)] }),
    });
    expect(applied?.order).toMatchObject({ totalAmount: 0n, itemsDiscountAmount: 500n });
  });

  test("are limited to the maximum of units for any result of a formula", () => {
    const [applied] = appliedIn({
      redeemables: [giving({ unitOffFormula: "POW(10; 30)" })],
      order: buildOrder({ lines: [line("mug", 1n)] }),
    });
    expect(linesOf(applied)).toEqual([[1_000_001n, 1_000_000_000n]]);
  });

  test.each(["0 - 3", "0.9"])("are none if a formula returns %s", (unitOffFormula) => {
    const [applied] = appliedIn({
      redeemables: [giving({ unitOffFormula })],
      order: buildOrder({ lines: [line("poster", 1n)] }),
    });
    expect(linesOf(applied)).toEqual([[1n, 0n]]);
  });

  test.each([
    [
      "more than the API can represent exactly",
      { order: buildOrder({ amount: MAX_AMOUNT, lines: [] }) },
      "Added units would raise the order above 9007199254740991",
    ],
    [
      "more lines than an order may have",
      { order: buildOrder({ lines: Array.from({ length: 500 }, () => line("poster", 1n)) }) },
      "An order cannot have more than 500 items with what is added to it",
    ],
  ])("are rejected if the order would have %s", (_what, request, details) => {
    const { rejection } = evaluateRejected({ redeemables: [giving({})], catalogue, ...request });
    expect(rejection).toEqual({ key: "invalid_order", details });
  });

  test("are listed for loading before the decision, for vouchers and tiers", () => {
    const units = ["a", "b"].map((unitType) => ({
      effect: "ADD_NEW_ITEMS" as const,
      unitOff: 1n,
      unitOffFormula: null,
      unitType,
    }));
    const many = { effect: "ADD_MANY_ITEMS", units, unitOff: null, unitType: null } as const;
    const discount = buildDiscount({ type: "UNIT", unitOff: 1n, unitType: "c" });
    expect(
      itemsToLoad([
        giving(many),
        giving({}),
        tierRedeemable(buildTier({ discount })),
        voucherRedeemable(buildDiscountVoucher("PERCENT", percentOff("10"))),
        { object: "promotion_tier", id: "unknown", tier: null },
      ]),
    ).toEqual(["a", "b", "mug", "c"]);
  });
});

describe("exchanged units", () => {
  const onlyPoster = buildRule(
    "val_1",
    {},
    {
      applicableTo: {
        included: [buildScopeEntry({ id: "poster" })],
        excluded: [],
        includedAll: false,
      },
    },
  );
  const exchange = (unitOff: bigint, voucher: Partial<VoucherSnapshot> = {}) =>
    giving({ effect: "REPLACE_ITEMS", unitOff }, { rules: [onlyPoster], ...voucher });

  test("are recorded on both lines", () => {
    const [applied] = appliedIn({
      redeemables: [exchange(2n)],
      order: buildOrder({ lines: [line("poster", 2n, 1500n)] }),
    });
    const application = {
      sourceIndex: 0,
      sourceAppliedQuantity: -2n,
      sourceAppliedQuantityAmount: -3000n,
      targetIndex: 1,
      targetAppliedQuantity: 4n,
      targetAppliedQuantityAmount: 4000n,
      targetAppliedDiscountAmount: 1000n,
    };
    expect(applied?.order).toMatchObject({
      amount: 4000n,
      initialAmount: 3000n,
      totalAmount: 3000n,
      lines: [
        { quantity: 0n, initialQuantity: 2n, amount: 0n, exchanges: [application] },
        { quantity: 4n, discountQuantity: 4n, exchanges: [application] },
      ],
    });
  });

  test("exclude units whose discount must stay", () => {
    const [, applied] = appliedIn({
      redeemables: [
        voucherRedeemable(
          buildDiscountVoucher("ITEMS", amountOff(100n, "APPLY_TO_ITEMS"), { id: "v_1" }),
        ),
        exchange(1n),
      ],
      order: buildOrder({ lines: [line("poster", 2n, 1500n)] }),
    });
    expect(linesOf(applied)).toEqual([
      [1n, 100n],
      [1n, 0n],
    ]);
  });

  test("exclude free units without a price", () => {
    const [, applied] = appliedIn({
      redeemables: [
        giving({ effect: "ADD_NEW_ITEMS", unitOff: 2n, unitType: "poster" }, { code: "POSTER" }),
        exchange(1n),
      ],
      order: buildOrder({ lines: [line("poster", 3n, 0n)] }),
    });
    expect(applied?.order?.lines).toMatchObject([
      { quantity: 2n, discountQuantity: 2n, appliedQuantity: -3n },
      { quantity: 3n, discountQuantity: 3n },
    ]);
  });

  test("leave an order that is worth at least its discounts", () => {
    const [, applied] = appliedIn({
      redeemables: [
        voucherRedeemable(buildDiscountVoucher("ORDER", amountOff(3000n), { id: "v_1" })),
        exchange(1n),
      ],
      // Each exchange lowers the order by 1500, and 1600 are left to pay.
      order: buildOrder({ amount: 4600n, lines: [line("poster", 2n, 2500n)] }),
    });
    expect(linesOf(applied)).toEqual([
      [1n, 0n],
      [1n, 0n],
    ]);
    expect(applied?.order).toMatchObject({ amount: 3100n, totalAmount: 100n });
  });

  test.each([
    ["that have no price", line("poster", 2n, null)],
    ["that are it already", line("mug", 2n)],
  ])("exclude those %s", (_what, source) => {
    const [applied] = appliedIn({
      redeemables: [exchange(1n, { rules: [] })],
      order: buildOrder({ lines: [source] }),
    });
    expect(linesOf(applied)).toEqual([[2n, 0n]]);
  });

  test("are not exchanged for an item without a price", () => {
    const [applied] = appliedIn({
      redeemables: [giving({ effect: "REPLACE_ITEMS", unitType: "nobody" })],
      order: buildOrder({ lines: [line("poster", 2n)] }),
    });
    expect(linesOf(applied)).toEqual([[2n, 0n]]);
  });
});

import type { DiscountDefinition, Metadata } from "@scrip/rules";
import { describe, expect, test } from "vitest";

import {
  EMPTY_INPUT,
  buildCustomer,
  buildDiscount,
  buildDiscountVoucher,
  buildLine,
  buildOrder,
  voucherRedeemable,
  unlimited,
} from "../../../test/builders.ts";
import { decide } from "../decide.ts";
import type { Decision } from "../decision/decision.ts";
import type { CustomerSnapshot } from "../input/customer.ts";
import type { OrderSnapshot } from "../input/order.ts";
import type { VoucherSnapshot } from "../input/voucher.ts";
import { DEFAULT_STACKING_RULES } from "../stacking/stacking-rules.ts";

const time = { now: Date.parse("2026-11-20T23:30:00Z"), timeZone: "Europe/Warsaw" };

type FormulaInput = {
  readonly order?: Partial<OrderSnapshot> | null;
  readonly customer?: CustomerSnapshot | null;
  readonly metadata?: Metadata;
  readonly voucher?: Partial<VoucherSnapshot>;
};

const FALLBACK = "falls back";

/** Two mugs at 10.00, three posters at 15.00 with a discount of 5.00, a bag at 10.00. */
const order = buildOrder({
  metadata: { region: 7 },
  lines: [
    buildLine({
      quantity: 2n,
      prices: { line: 1000n },
      metadata: { factor: 2 },
      productMetadata: { margin: 0.25 },
    }),
    buildLine({
      quantity: 3n,
      prices: { line: 1500n },
      discountAmount: 500n,
      metadata: { factor: 3 },
    }),
    buildLine({ quantity: 1n, prices: { line: 1000n }, metadata: { factor: 4 } }),
    buildLine({ quantity: 9n }),
  ],
});

describe("the formula of a discount on the order", () => {
  const cases: readonly (readonly [string, bigint | typeof FALLBACK, FormulaInput?])[] = [
    ["ORDER_AMOUNT", 7500n],
    ["ORDER_AMOUNT", FALLBACK, { order: {} }],
    ["ORDER_AMOUNT", FALLBACK, { order: null }],
    ["ORDER_ITEMS_QUANTITY", 400n],
    ["ORDER_UNITS_QUANTITY", 1500n],
    ["ORDER_UNITS_QUANTITY", FALLBACK, { order: null }],
    ["ORDER_BUNDLE_QUANTITY", 100n],
    ['ORDER_METADATA("region")', 700n],
    ['CUSTOMER_METADATA("age")', 3000n, { customer: buildCustomer({ metadata: { age: 30 } }) }],
    ['CUSTOMER_METADATA("age")', FALLBACK],
    ['REDEMPTION_METADATA("n")', 250n, { metadata: { n: 2.5 } }],
    ['REDEMPTION_METADATA("n")', FALLBACK],
    ['REDEEMABLE_METADATA("n")', 300n, { voucher: { metadata: { n: 3 } } }],
    ['PUBLICATION_METADATA("n")', 300n, { voucher: { publicationMetadata: { n: 3 } } }],
    ['PUBLICATION_METADATA("n")', FALLBACK],
    ["VOUCHER_REDEMPTION_QUANTITY", 500n, { voucher: { quantity: 5n } }],
    ["VOUCHER_REDEMPTION_QUANTITY", FALLBACK],
    ["VOUCHER_REDEEMED_QUANTITY", 200n, { voucher: { redeemedQuantity: 2n } }],
    ["VOUCHER_PUBLISH_COUNT", 400n, { voucher: { publishCount: 4n } }],
    ["DAYS_SINCE(VOUCHER_START_DATE)", 2000n, { voucher: dated("2026-10-31T23:00:00Z", null) }],
    ["DAYS_UNTIL(VOUCHER_EXPIRATION_DATE)", 100n, { voucher: dated(null, "2026-11-22T00:00:00Z") }],
    ["DAYS_UNTIL(VOUCHER_EXPIRATION_DATE)", FALLBACK],
    ["DAYS_UNTIL(PROMOTION_TIER_START_DATE)", FALLBACK],
    [
      "YEARS_SINCE(CUSTOMER_BIRTHDATE)",
      3600n,
      { customer: buildCustomer({ birthdate: "1990-11-21" }) },
    ],
    ["YEARS_SINCE(CUSTOMER_BIRTHDATE)", FALLBACK],
    ["CHEAPEST_ORDER_ITEM_PRICE", 1000n],
    ["CHEAPEST_ORDER_ITEM_AMOUNT", 1000n],
    ["CHEAPEST_ORDER_ITEM_UNITS_QUANTITY", 100n],
    ['CHEAPEST_ORDER_ITEM_METADATA("factor")', 400n],
    ["MOST_EXPENSIVE_ORDER_ITEM_AMOUNT", 4500n],
    ["MOST_EXPENSIVE_ORDER_ITEM_SUBTOTAL", 4000n],
    ["MOST_EXPENSIVE_ORDER_ITEM_PRICE", FALLBACK, { order: { amount: 100n } }],
    ["ORDER_ITEM_PRICE", FALLBACK],
    ['ORDER_ITEM_METADATA("factor")', FALLBACK],
    ["0 - 5", 0n],
    ["1 / 3", 33n],
    ["1.005", 101n],
    ["5 / 0", FALLBACK],
  ];
  const rows = cases.map(([formula, value, input = {}]) => ({ formula, value, input }));

  test.each(rows)("$formula returns $value", ({ formula, value, input }) => {
    const voucher = input.voucher ?? {};
    const discount = { type: "AMOUNT", amountOff: 1n, amountOffFormula: formula } as const;
    const decision = decided(discount, { order, ...input, voucher });
    const expected =
      value === FALLBACK
        ? { isDynamic: false, value: null }
        : { isDynamic: true, value: { type: "AMOUNT", amountOff: value } };
    expect(decision.redeemables[0]).toMatchObject({ benefit: expected });
  });

  test.each([
    ["IF(ORDER_AMOUNT > 300;15;5)", 30_000n, 1500n],
    ["IF(ORDER_AMOUNT > 300;15;5)", 30_001n, 4500n],
    ["250", 1000n, 1000n],
    ["-1", 1000n, 0n],
    ["100 / 3", 300n, 100n],
    ["1 / 0", 1000n, 120n],
  ])("PERCENT %s of %d discounts %d", (percentOffFormula, amount, off) => {
    const discount = { type: "PERCENT", percentOff: "12", percentOffFormula } as const;
    expect(decided(discount, { order: { amount } }).order?.appliedDiscountAmount).toBe(off);
  });

  test("applies static limits after the formula: 15 % of 30000 is 4500, limited to 3000", () => {
    const discount = {
      type: "PERCENT",
      percentOff: "5",
      percentOffFormula: "15",
      amountLimit: 3000n,
    } as const;
    expect(decided(discount, { order: { amount: 30_000n } }).order?.discountAmount).toBe(3000n);
  });

  test("FIXED discounts the amount above the value", () => {
    const discount = {
      type: "FIXED",
      fixedAmount: 1n,
      fixedAmountFormula: "ORDER_AMOUNT / 2",
    } as const;
    expect(decided(discount, { order: { amount: 4001n } }).order?.discountAmount).toBe(2000n);
  });

  test("an amount above every order discounts the whole order", () => {
    const discount = {
      type: "AMOUNT",
      amountOff: 1n,
      amountOffFormula: "POW(10; 39)",
    } as const;
    expect(decided(discount, { order: { amount: 4001n } }).order?.discountAmount).toBe(4001n);
  });
});

describe("the formula of a discount on the lines", () => {
  const onItems = { effect: "APPLY_TO_ITEMS" } as const;

  test.each([
    ["ORDER_ITEM_PRICE / 10", [100n, 150n, 100n]],
    ["ORDER_ITEM_AMOUNT / 10", [200n, 450n, 100n]],
    ["ORDER_ITEM_SUBTOTAL / 10", [200n, 400n, 100n]],
    ["ORDER_ITEM_UNITS_QUANTITY", [200n, 300n, 100n]],
    ['ORDER_ITEM_METADATA("factor")', [200n, 300n, 400n]],
    ["CHEAPEST_ORDER_ITEM_PRICE / 20", [50n, 50n, 50n]],
    ['ORDER_ITEM_PRODUCT_METADATA("margin")', [25n, 7n, 7n]],
    ["IF(ORDER_ITEM_PRICE > 10; 1 / 0; 2)", [200n, 7n, 200n]],
  ])("%s discounts each line by its own value", (amountOffFormula, off) => {
    const discount = { type: "AMOUNT", amountOff: 7n, amountOffFormula, ...onItems } as const;
    const decision = decided(discount, { order });
    const lines = decision.order?.lines.map((line) => line.appliedDiscountAmount);
    expect(lines).toEqual([...off, 0n]);
    expect(decision.redeemables[0]).toMatchObject({ benefit: { isDynamic: true } });
  });

  test("a percentage may differ by line", () => {
    const percentOffFormula = 'ORDER_ITEM_METADATA("factor") * 10';
    const discount = { type: "PERCENT", percentOff: "1", percentOffFormula, ...onItems } as const;
    const decision = decided(discount, { order });
    const lines = decision.order?.lines.map((line) => line.appliedDiscountAmount);
    expect(lines).toEqual([400n, 1200n, 400n, 0n]);
    expect(decision.redeemables[0]).toMatchObject({ benefit: { value: null } });
  });

  test("evaluates a split amount once, without a line", () => {
    const split = {
      effect: "APPLY_TO_ITEMS_PROPORTIONALLY",
      type: "AMOUNT",
      amountOff: 70n,
    } as const;
    const one = decided({ ...split, amountOffFormula: "ORDER_ITEMS_QUANTITY" }, { order });
    expect(one.order?.itemsAppliedDiscountAmount).toBe(400n);
    const none = decided({ ...split, amountOffFormula: "ORDER_ITEM_PRICE" }, { order });
    expect(none.order?.itemsAppliedDiscountAmount).toBe(70n);
    expect(none.redeemables[0]).toMatchObject({ benefit: { isDynamic: false } });
  });

  test("uses the static value for all lines if the order needs too many steps", () => {
    const many = (count: number) => ({
      lines: Array.from({ length: count }, () => buildLine({ prices: { line: 1000n } })),
    });
    const amountOffFormula = `ORDER_ITEM_PRICE${"/1".repeat(12)}`;
    const discount = { type: "AMOUNT", amountOff: 7n, amountOffFormula, ...onItems } as const;
    expect(decided(discount, { order: many(400) }).order?.totalAmount).toBe(0n);
    const tooMany = decided(discount, { order: many(401) });
    expect(tooMany.order?.itemsAppliedDiscountAmount).toBe(401n * 7n);
    expect(tooMany.redeemables[0]).toMatchObject({ benefit: { isDynamic: false } });
  });

  test("a fixed price may depend on the line", () => {
    const discount = {
      type: "FIXED",
      fixedAmount: 1n,
      fixedAmountFormula: "ORDER_ITEM_PRICE / 2",
      ...onItems,
    } as const;
    const decision = decided(discount, { order });
    const lines = decision.order?.lines.map((line) => line.appliedDiscountAmount);
    expect(lines).toEqual([1000n, 1750n, 500n, 0n]);
  });
});

function dated(start: string | null, expiration: string | null): Partial<VoucherSnapshot> {
  const at = (text: string | null) => (text === null ? null : Date.parse(text));
  return { validity: { ...unlimited, startDate: at(start), expirationDate: at(expiration) } };
}

function decided(
  definition: Partial<DiscountDefinition> & Pick<DiscountDefinition, "type">,
  input: FormulaInput,
): Extract<Decision, { kind: "decided" }> {
  const voucher = buildDiscountVoucher("F", buildDiscount(definition), input.voucher);
  const decision = decide({
    redeemables: [voucherRedeemable(voucher)],
    order: input.order ? buildOrder(input.order) : null,
    customer: input.customer ?? null,
    metadata: input.metadata ?? {},
    time,
    stacking: DEFAULT_STACKING_RULES,
    ...EMPTY_INPUT,
  });
  if (decision.kind !== "decided") throw new Error(decision.rejection.key);
  return decision;
}

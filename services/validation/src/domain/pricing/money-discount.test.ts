import type { AmountDiscount, DiscountDefinition, MoneyDiscount } from "@scrip/rules";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  amountOff,
  buildDiscount,
  buildLine,
  buildLines,
  buildOrder,
  percentOff,
  wholeLines,
} from "../../../test/builders.ts";
import type { OrderSnapshot } from "../input/order.ts";
import { type OrderFigures, orderFigures } from "../order/order-figures.ts";
import { type OrderState, initialOrderState } from "../order/order-state.ts";
import type { CalculationMode } from "../stacking/stacking-rules.ts";
import { type MoneyDiscountContext, applyMoneyDiscount } from "./money-discount.ts";

type Limits = Partial<Pick<DiscountDefinition, "amountLimit" | "aggregatedAmountLimit">>;

const itemsPercent = (text: string, rest: Limits = {}): MoneyDiscount =>
  buildDiscount({ type: "PERCENT", percentOff: text, effect: "APPLY_TO_ITEMS", ...rest });

describe("a discount on the order", () => {
  test.each([
    ["10 % of a round amount", "10", 10_000n, 1000n],
    ["10 % of 11499, half up", "10", 11_499n, 1150n],
    ["12.5 % of 1004, half up", "12.5", 1004n, 126n],
    ["12.5 % of 1003, down", "12.5", 1003n, 125n],
    ["a third of a percent", "0.3333", 10_000n, 33n],
    ["0 %", "0", 10_000n, 0n],
    ["100 %", "100", 9999n, 9999n],
    ["a percent of nothing", "10", 0n, 0n],
    ["half a cent", "50", 1n, 1n],
    ["less than half a cent", "49.99", 1n, 0n],
    [
      "a percent of an amount that no float represents",
      "10",
      9_007_199_254_740_991n,
      900_719_925_474_099n,
    ],
  ])("PERCENT: %s", (_what, text, amount, off) => {
    expect(offOrder(percentOff(text), amount)).toBe(off);
  });

  test.each([
    ["a limit below", { amountLimit: 1000n }, 1000n],
    ["a limit above", { amountLimit: 2001n }, 2000n],
    ["an aggregated limit", { aggregatedAmountLimit: 1500n }, 1500n],
    ["the lower of two limits", { amountLimit: 1000n, aggregatedAmountLimit: 1500n }, 1000n],
    ["a limit of nothing", { amountLimit: 0n }, 0n],
  ])("PERCENT with %s", (_what, limits, off) => {
    const discount = buildDiscount({ type: "PERCENT", percentOff: "20", ...limits });
    expect(offOrder(discount, 10_000n)).toBe(off);
  });

  test.each([
    ["below the total", 1000n, {}, 1000n],
    ["above the total, limited to it", 20_000n, {}, 10_000n],
    ["with an aggregated limit", 1000n, { aggregatedAmountLimit: 300n }, 300n],
    ["with a limit under its other name", 1000n, { amountLimit: 400n }, 400n],
    ["of nothing", 0n, {}, 0n],
  ])("AMOUNT %s", (_what, off, limits, expected) => {
    const discount = buildDiscount({ type: "AMOUNT", amountOff: off, ...limits });
    expect(offOrder(discount, 10_000n)).toBe(expected);
  });

  test.each([
    ["below the total", 1000n, {}, 9000n],
    ["above the total, which it never raises", 20_000n, {}, 0n],
    ["of nothing", 0n, {}, 10_000n],
    ["with a limit", 1000n, { amountLimit: 500n }, 500n],
  ])("FIXED %s", (_what, fixedAmount, limits, expected) => {
    const discount = buildDiscount({ type: "FIXED", fixedAmount, ...limits });
    expect(offOrder(discount, 10_000n)).toBe(expected);
  });

  test.each([
    ["the discounted amount", "DISCOUNTED_AMOUNT", 2800n],
    ["the initial amount", "INITIAL_AMOUNT", 3000n],
  ] as const)("ten and twenty percent of 10000 together, based on %s", (_what, mode, total) => {
    const figures = figuresOf([percentOff("10"), percentOff("20")], { amount: 10_000n }, mode);
    expect(figures.totalDiscountAmount).toBe(total);
  });

  test("adds to the discounts that an order already has", () => {
    const figures = figuresOf([amountOff(1000n)], { amount: 10_000n, discountAmount: 9200n });
    expect(figures).toMatchObject({
      discountAmount: 10_000n,
      appliedDiscountAmount: 800n,
      totalAmount: 0n,
    });
  });
});

/**
 * Mug, poster and T-shirt, the first three lines of the reference sample
 * (docs/order-calculation.md#effects).
 */
const adventure = buildLines([2n, 1000n], [3n, 1500n], [3n, 2000n]);
const sample: Partial<OrderSnapshot> = { lines: [...adventure, ...buildLines([2n, 2500n])] };
const firstThree = [0, 1, 2];
const NO_PRICE: MoneyDiscount = {
  type: "FIXED",
  effect: null,
  fixedAmount: null,
  formula: null,
  amountLimit: null,
  aggregatedAmountLimit: null,
};

describe("a discount on items", () => {
  test.each([
    ["AMOUNT 1000", amountOff(1000n, "APPLY_TO_ITEMS"), [1000n, 1000n, 1000n], 14_500n],
    [
      "AMOUNT 1000 BY_QUANTITY",
      amountOff(1000n, "APPLY_TO_ITEMS_BY_QUANTITY"),
      [2000n, 3000n, 3000n],
      9500n,
    ],
    [
      "AMOUNT 1000 PROPORTIONALLY",
      amountOff(1000n, "APPLY_TO_ITEMS_PROPORTIONALLY"),
      [160n, 360n, 480n],
      16_500n,
    ],
    [
      "AMOUNT 1000 PROPORTIONALLY_BY_QUANTITY",
      amountOff(1000n, "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY"),
      [250n, 375n, 375n],
      16_500n,
    ],
    ["PERCENT 10", itemsPercent("10"), [200n, 450n, 600n], 16_250n],
    [
      "FIXED 1000",
      buildDiscount({ type: "FIXED", fixedAmount: 1000n, effect: "APPLY_TO_ITEMS" }),
      [0n, 1500n, 3000n],
      13_000n,
    ],
  ])("%s results in the figures of the reference sample", (_what, discount, lines, total) => {
    const figures = figuresOf([discount], sample, "DISCOUNTED_AMOUNT", firstThree);
    expect(figures.lines.map((line) => line.discountAmount)).toEqual([...lines, 0n]);
    expect(figures.totalAmount).toBe(total);
    expect(figures.discountAmount).toBe(0n);
  });

  test.each(["APPLY_TO_ORDER", "APPLY_TO_ITEMS"] as const)(
    "FIXED without any price has no effect with %s",
    (effect) => {
      const discount: MoneyDiscount = { ...NO_PRICE, effect };
      expect(figuresOf([discount], sample, "DISCOUNTED_AMOUNT", firstThree)).toMatchObject({
        totalAmount: 17_500n,
        totalDiscountAmount: 0n,
      });
    },
  );

  test.each([
    [
      "10 % with an aggregated limit favours earlier lines",
      itemsPercent("10", { aggregatedAmountLimit: 1000n }),
      buildLines([1n, 2000n], [1n, 4500n], [1n, 6000n]),
      [200n, 450n, 350n],
    ],
    [
      "10 % with a limit for each line",
      itemsPercent("10", { amountLimit: 300n }),
      buildLines([1n, 2000n], [1n, 4500n], [1n, 6000n]),
      [200n, 300n, 300n],
    ],
    [
      "10 % is rounded for each line",
      itemsPercent("10"),
      buildLines([1n, 5n], [1n, 5n], [1n, 4n]),
      [1n, 1n, 0n],
    ],
    [
      "an amount never exceeds its line",
      amountOff(1000n, "APPLY_TO_ITEMS"),
      buildLines([1n, 300n], [1n, 2000n]),
      [300n, 1000n],
    ],
    [
      "an amount by quantity never exceeds the unit price",
      amountOff(1000n, "APPLY_TO_ITEMS_BY_QUANTITY"),
      buildLines([3n, 300n]),
      [900n],
    ],
    [
      "an amount by quantity needs no unit price",
      amountOff(1000n, "APPLY_TO_ITEMS_BY_QUANTITY"),
      [buildLine({ quantity: 3n, amount: 2500n })],
      [2500n],
    ],
    [
      "ignores lines without a price",
      amountOff(1000n, "APPLY_TO_ITEMS"),
      [buildLine({ quantity: 3n }), ...buildLines([1n, 2000n])],
      [0n, 1000n],
    ],
    [
      "300 is split over 3300 and 3400",
      amountOff(300n, "APPLY_TO_ITEMS_PROPORTIONALLY"),
      buildLines([1n, 3300n], [1n, 3400n]),
      [148n, 152n],
    ],
    [
      "1000 is split over three equal lines",
      amountOff(1000n, "APPLY_TO_ITEMS_PROPORTIONALLY"),
      buildLines([1n, 3000n], [1n, 3000n], [1n, 3000n]),
      [334n, 333n, 333n],
    ],
    [
      "a split by quantity moves the rest of a cheap line to the others",
      amountOff(1000n, "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY"),
      buildLines([8n, 10n], [1n, 5000n], [1n, 3000n]),
      [80n, 460n, 460n],
    ],
    [
      "a split by quantity ignores a line without units",
      amountOff(1000n, "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY"),
      [buildLine({ quantity: 0n, amount: 5000n }), ...buildLines([2n, 300n])],
      [0n, 600n],
    ],
    [
      "a split of more than the order's amount discounts all of it",
      amountOff(10_000n, "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY"),
      buildLines([8n, 10n], [1n, 500n]),
      [80n, 500n],
    ],
    [
      "a split keeps its aggregated limit",
      {
        ...amountOff(1000n, "APPLY_TO_ITEMS_PROPORTIONALLY"),
        aggregatedAmountLimit: 500n,
      },
      buildLines([1n, 3000n], [1n, 3000n]),
      [250n, 250n],
    ],
    [
      "an amount keeps its aggregated limit",
      { ...amountOff(1000n, "APPLY_TO_ITEMS"), aggregatedAmountLimit: 1500n },
      buildLines([1n, 3000n], [1n, 3000n]),
      [1000n, 500n],
    ],
  ])("%s", (_what, discount, lines, expected) => {
    const figures = figuresOf([discount], { lines });
    expect(figures.lines.map((line) => line.discountAmount)).toEqual(expected);
  });

  test("is limited to an order amount below the sum of the items", () => {
    const order = { amount: 1500n, lines: buildLines([1n, 1000n], [1n, 2000n]) };
    const figures = figuresOf([amountOff(1000n, "APPLY_TO_ITEMS")], order);
    expect(figures.lines.map((line) => line.discountAmount)).toEqual([1000n, 500n]);
    expect(figures.totalAmount).toBe(0n);
  });

  test.each([
    ["the discounted amount of each line", "DISCOUNTED_AMOUNT", [979n, 1721n]],
    ["the initial amount of each line", "INITIAL_AMOUNT", [950n, 1750n]],
  ] as const)("splits by %s", (_what, mode, expected) => {
    const lines = [
      buildLine({ amount: 2000n, discountAmount: 900n }),
      buildLine({ amount: 2000n, discountAmount: 1700n }),
    ];
    const figures = figuresOf([amountOff(100n, "APPLY_TO_ITEMS_PROPORTIONALLY")], { lines }, mode);
    expect(figures.lines.map((line) => line.discountAmount)).toEqual(expected);
  });

  test.each([
    ["the discounted amount of each line", "DISCOUNTED_AMOUNT", [900n, 1800n]],
    ["the initial amount of each line", "INITIAL_AMOUNT", [1000n, 2000n]],
  ] as const)("eighty and fifty percent based on %s", (_what, mode, expected) => {
    const order = { lines: buildLines([1n, 1000n], [1n, 2000n]) };
    const figures = figuresOf([itemsPercent("80"), itemsPercent("50")], order, mode);
    expect(figures.lines.map((line) => line.discountAmount)).toEqual(expected);
  });
});

const cents = fc.bigInt(0n, 1_000_000n);
const limit = fc.option(cents);
const anyLines = fc.array(fc.tuple(fc.bigInt(0n, 20n), fc.bigInt(0n, 100_000n)), { maxLength: 8 });
const anyOrder = fc.record({ amount: fc.option(cents), lines: anyLines });
const amountEffect = fc.constantFrom<AmountDiscount["effect"][]>(
  "APPLY_TO_ORDER",
  "APPLY_TO_ITEMS",
  "APPLY_TO_ITEMS_BY_QUANTITY",
  "APPLY_TO_ITEMS_PROPORTIONALLY",
  "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY",
);
const plainEffect = fc.constantFrom(null, "APPLY_TO_ORDER" as const, "APPLY_TO_ITEMS" as const);
const anyLimits = { amountLimit: limit, aggregatedAmountLimit: limit };
const anyDiscount: fc.Arbitrary<MoneyDiscount> = fc.oneof(
  fc
    .record({ percent: fc.integer({ min: 0, max: 10_000 }), effect: plainEffect, ...anyLimits })
    .map(({ percent: hundredths, ...rest }) =>
      buildDiscount({ type: "PERCENT", percentOff: (hundredths / 100).toFixed(2), ...rest }),
    ),
  fc
    .record({ amountOff: cents, effect: amountEffect, ...anyLimits })
    .map((rest) => buildDiscount({ type: "AMOUNT", ...rest })),
  fc
    .record({ fixedAmount: cents, effect: plainEffect, ...anyLimits })
    .map((rest) => buildDiscount({ type: "FIXED", ...rest })),
);
const anyMode = fc.constantFrom<CalculationMode[]>("DISCOUNTED_AMOUNT", "INITIAL_AMOUNT");

describe("any discount on any order", () => {
  test("keeps totals exact and not negative, and applied sums add up", () => {
    fc.assert(
      fc.property(
        fc.array(anyDiscount, { maxLength: 5 }),
        anyOrder,
        anyMode,
        (discounts, order, mode) => {
          const snapshot = buildOrder({ amount: order.amount, lines: buildLines(...order.lines) });
          const start = initialOrderState(snapshot);
          let state = start;
          let applied = 0n;
          for (const discount of discounts) {
            const before = state;
            ({ state } = apply(discount, state, { mode, selectedLines: wholeLines(state) }));
            const figures = orderFigures(before, state);
            expectSound(figures);
            expect(figures.totalAppliedDiscountAmount >= 0n).toBe(true);
            applied += figures.totalAppliedDiscountAmount;
          }
          const figures = orderFigures(start, state);
          expectSound(figures);
          expect(figures.totalAppliedDiscountAmount).toBe(applied);
          expect(figures.totalDiscountAmount).toBe(applied);
        },
      ),
    );
  });

  test("splits into parts that add up to the amount or to the whole order", () => {
    const effects = fc.constantFrom(
      "APPLY_TO_ITEMS_PROPORTIONALLY" as const,
      "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY" as const,
    );
    fc.assert(
      fc.property(anyLines, cents, effects, (lines, amount, effect) => {
        const figures = figuresOf([amountOff(amount, effect)], { lines: buildLines(...lines) });
        const expected = amount < figures.amount ? amount : figures.amount;
        expect(figures.itemsDiscountAmount).toBe(expected);
      }),
    );
  });

  test("applies percentages of the initial amount equally in any sequence", () => {
    // At most three discounts, so that none is limited to the amount left to pay.
    const percents = fc.array(fc.integer({ min: 0, max: 3333 }), { maxLength: 3 });
    fc.assert(
      fc.property(percents, cents, (hundredths, amount) => {
        const discounts = hundredths.map((percent) => percentOff((percent / 100).toFixed(2)));
        const off = [discounts, discounts.toReversed()].map(
          (one) => figuresOf(one, { amount }, "INITIAL_AMOUNT").totalDiscountAmount,
        );
        expect(off[0]).toBe(off[1]);
      }),
    );
  });

  test("respects limits", () => {
    fc.assert(
      fc.property(anyDiscount, anyOrder, (discount, order) => {
        const snapshot = { amount: order.amount, lines: buildLines(...order.lines) };
        const figures = figuresOf([discount], snapshot);
        const { aggregatedAmountLimit, amountLimit } = discount;
        const off = figures.totalAppliedDiscountAmount;
        expect(aggregatedAmountLimit === null || off <= aggregatedAmountLimit).toBe(true);
        expect(
          amountLimit === null ||
            discount.type === "FIXED" ||
            figures.lines.every((line) => line.discountAmount <= amountLimit),
        ).toBe(true);
      }),
    );
  });
});

function expectSound(figures: OrderFigures): void {
  const itemsDiscount = figures.lines.reduce((sum, line) => sum + line.discountAmount, 0n);
  const itemsApplied = figures.lines.reduce((sum, line) => sum + line.appliedDiscountAmount, 0n);
  expect(figures.itemsDiscountAmount).toBe(itemsDiscount);
  expect(figures.itemsAppliedDiscountAmount).toBe(itemsApplied);
  expect(figures.totalDiscountAmount).toBe(figures.discountAmount + itemsDiscount);
  expect(figures.totalAmount).toBe(figures.amount - figures.totalDiscountAmount);
  expect(figures.totalAmount >= 0n).toBe(true);
  for (const line of figures.lines) {
    expect(line.subtotalAmount).toBe(line.amount - line.discountAmount);
    expect(line.subtotalAmount >= 0n).toBe(true);
  }
}

const offOrder = (discount: MoneyDiscount, amount: bigint): bigint =>
  figuresOf([discount], { amount }).appliedDiscountAmount;

function figuresOf(
  discounts: readonly MoneyDiscount[],
  order: Partial<OrderSnapshot>,
  mode: CalculationMode = "DISCOUNTED_AMOUNT",
  selection?: readonly number[],
): OrderFigures {
  const start = initialOrderState(buildOrder(order));
  const selectedLines = wholeLines(start, selection);
  const end = discounts.reduce(
    (state, discount) => apply(discount, state, { mode, selectedLines }).state,
    start,
  );
  return orderFigures(start, end);
}

const apply = (
  discount: MoneyDiscount,
  state: OrderState,
  terms: Pick<MoneyDiscountContext, "mode" | "selectedLines">,
) =>
  applyMoneyDiscount(discount, state, {
    ...terms,
    effect: discount.effect ?? "APPLY_TO_ORDER",
    formulas: () => () => null,
    multiplier: 1n,
  });

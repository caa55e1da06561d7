import { describe, expect, test } from "vitest";

import { buildLine, buildLines, buildOrder } from "../../../test/builders.ts";
import type { LinePrices, OrderSnapshot } from "../input/order.ts";
import { discountLines, discountOrder } from "./order-draft.ts";
import { orderFigures } from "./order-figures.ts";
import { checkOrder, initialOrderState } from "./order-state.ts";

describe("initialOrderState", () => {
  test.each([
    [
      "of the request, regardless of the sum of the items",
      buildOrder({ amount: 20_050n, lines: buildLines([5n, 1000n]) }),
      20_050n,
    ],
    [
      "as the sum of the items otherwise",
      buildOrder({ lines: buildLines([2n, 1000n], [3n, 1500n]) }),
      6500n,
    ],
    [
      "with line amounts before price times quantity",
      buildOrder({ lines: [buildLine({ amount: 700n, quantity: 2n, prices: { line: 1000n } })] }),
      700n,
    ],
    [
      "with one unit for a line without quantity",
      buildOrder({ lines: [buildLine({ prices: { line: 1000n } })] }),
      1000n,
    ],
    [
      "without lines without a price",
      buildOrder({ lines: [buildLine({ quantity: 3n }), ...buildLines([1n, 50n])] }),
      50n,
    ],
    ["as zero for an empty order", buildOrder(), 0n],
    ["as zero without an order", null, 0n],
  ])("computes the amount %s", (_what, order, amount) => {
    const start = initialOrderState(order);
    expect(start).toMatchObject({ amount, initialAmount: amount });
  });

  const prices: LinePrices = {
    line: 5n,
    inlineSku: 4n,
    inlineProduct: 3n,
    storedSku: 2n,
    storedProduct: 1n,
  };
  test.each([
    ["the line", {}, 5n],
    ["the SKU of the request", { line: null }, 4n],
    ["the product of the request", { line: null, inlineSku: null }, 3n],
    ["the SKU in the catalogue", { line: null, inlineSku: null, inlineProduct: null }, 2n],
    [
      "the product in the catalogue",
      { line: null, inlineSku: null, inlineProduct: null, storedSku: null },
      1n,
    ],
    ["the line, though it is zero", { line: 0n }, 0n],
  ])("takes the unit price from %s", (_what, missing, price) => {
    const line = buildLine({ quantity: 10n, prices: { ...prices, ...missing } });
    expect(initialOrderState(buildOrder({ lines: [line] })).lines[0]).toMatchObject({
      price,
      amount: price * 10n,
    });
  });

  test("continues with the discounts and initial figures of a stored order", () => {
    const line = buildLine({
      amount: 6000n,
      quantity: 3n,
      initialAmount: 4000n,
      initialQuantity: 2n,
      discountAmount: 2000n,
      discountQuantity: 1n,
    });
    const start = initialOrderState(
      buildOrder({ initialAmount: 4000n, discountAmount: 500n, lines: [line] }),
    );
    expect(orderFigures(start, start)).toMatchObject({
      amount: 6000n,
      initialAmount: 4000n,
      discountAmount: 500n,
      itemsDiscountAmount: 2000n,
      totalDiscountAmount: 2500n,
      totalAmount: 3500n,
      totalAppliedDiscountAmount: 0n,
      lines: [
        {
          initialQuantity: 2n,
          initialAmount: 4000n,
          discountAmount: 2000n,
          discountQuantity: 1n,
          subtotalAmount: 4000n,
          appliedDiscountQuantity: 0n,
        },
      ],
    });
  });

  test("limits the discounts of a stored order to its amount", () => {
    const lines = [
      buildLine({ amount: 600n, discountAmount: 900n }),
      buildLine({ amount: 600n, discountAmount: 600n }),
    ];
    const start = initialOrderState(buildOrder({ amount: 1000n, discountAmount: 5000n, lines }));
    expect(orderFigures(start, start)).toMatchObject({
      discountAmount: 0n,
      itemsDiscountAmount: 1000n,
      totalAmount: 0n,
      lines: [{ discountAmount: 600n }, { discountAmount: 400n }],
    });
  });

  test.each([
    ["an amount", buildOrder({ amount: 0n }), true],
    ["a priced line", buildOrder({ lines: buildLines([1n, 0n]) }), true],
    ["a line without a price", buildOrder({ lines: [buildLine()] }), false],
    ["nothing", buildOrder(), false],
  ])("determines for an order with %s whether it has an amount", (_what, order, hasAmount) => {
    expect(initialOrderState(order).hasAmount).toBe(hasAmount);
  });
});

describe("orderFigures", () => {
  const start = initialOrderState(buildOrder({ lines: buildLines([2n, 1000n], [3n, 1500n]) }));

  test("keeps the lines at an order-level discount", () => {
    expect(orderFigures(start, discountOrder(start, 500n))).toEqual({
      amount: 6500n,
      initialAmount: 6500n,
      discountAmount: 500n,
      itemsDiscountAmount: 0n,
      totalDiscountAmount: 500n,
      totalAmount: 6000n,
      appliedDiscountAmount: 500n,
      itemsAppliedDiscountAmount: 0n,
      totalAppliedDiscountAmount: 500n,
      lines: [
        untouched({ price: 1000n, quantity: 2n, amount: 2000n }),
        untouched({ price: 1500n, quantity: 3n, amount: 4500n }),
      ],
    });
  });

  test("returns total sums, and the differences as applied ones", () => {
    const first = discountOrder(start, 500n);
    const second = discountLines(first, [{ index: 1, amount: 700n, units: 0n }]);
    const third = discountLines(second, [{ index: 1, amount: 300n, units: 0n }]);
    expect(orderFigures(second, third)).toMatchObject({
      discountAmount: 500n,
      itemsDiscountAmount: 1000n,
      totalDiscountAmount: 1500n,
      totalAmount: 5000n,
      appliedDiscountAmount: 0n,
      itemsAppliedDiscountAmount: 300n,
      totalAppliedDiscountAmount: 300n,
      lines: [
        { discountAmount: 0n, subtotalAmount: 2000n, appliedDiscountAmount: 0n },
        { discountAmount: 1000n, subtotalAmount: 3500n, appliedDiscountAmount: 300n },
      ],
    });
    expect(orderFigures(start, third)).toMatchObject({
      appliedDiscountAmount: 500n,
      itemsAppliedDiscountAmount: 1000n,
      totalAppliedDiscountAmount: 1500n,
    });
  });

  test("does not change the state before", () => {
    const before = structuredClone(start);
    discountLines(discountOrder(start, 1n), [{ index: 0, amount: 1n, units: 0n }]);
    expect(start).toEqual(before);
  });
});

describe("checkOrder", () => {
  const tooMuch = BigInt(Number.MAX_SAFE_INTEGER) + 1n;
  const range = "must be an integer from 0 to 9007199254740991";
  test.each([
    ["a negative amount", { amount: -1n }, `Property .order.amount ${range}`],
    [
      "an amount that JSON cannot represent",
      { amount: tooMuch },
      `Property .order.amount ${range}`,
    ],
    [
      "a negative quantity",
      { lines: buildLines([1n, 1n], [-1n, 1n]) },
      `Property .order.items[1].quantity ${range}`,
    ],
    [
      "a negative price",
      { lines: buildLines([1n, -1n]) },
      `Property .order.items[0].price ${range}`,
    ],
    [
      "a negative line",
      { lines: [buildLine({ amount: -1n })] },
      `Property .order.items[0].amount ${range}`,
    ],
    [
      "a product that JSON cannot represent",
      { lines: buildLines([1_000_000n, 10_000_000_000_000n]) },
      `Property .order.items[0].amount ${range}`,
    ],
    [
      "a sum that JSON cannot represent",
      { lines: buildLines([1n, tooMuch - 1n], [1n, 1n]) },
      `Property .order.amount ${range}`,
    ],
    [
      "too many lines",
      { lines: Array.from({ length: 501 }, () => buildLine()) },
      "Property .order.items must NOT have more than 500 items",
    ],
  ] satisfies [string, Partial<OrderSnapshot>, string][])("rejects %s", (_what, order, details) => {
    expect(checkOrder(buildOrder(order))).toEqual({ key: "invalid_order", details });
  });

  test("accepts five hundred lines without amounts", () => {
    const lines = Array.from({ length: 500 }, () => buildLine({ amount: 0n }));
    expect(checkOrder(buildOrder({ amount: 0n, lines }))).toBeNull();
  });
});

const untouched = (line: { price: bigint; quantity: bigint; amount: bigint }) => ({
  ...line,
  addedItem: null,
  collections: [],
  exchanges: [],
  initialQuantity: line.quantity,
  initialAmount: line.amount,
  subtotalAmount: line.amount,
  discountAmount: 0n,
  discountQuantity: 0n,
  appliedDiscountAmount: 0n,
  appliedDiscountQuantity: 0n,
  appliedQuantity: 0n,
  appliedQuantityAmount: 0n,
});

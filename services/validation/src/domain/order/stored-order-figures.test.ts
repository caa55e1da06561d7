import fc from "fast-check";
import { expect, test } from "vitest";

import { buildLine, buildLines } from "../../../test/builders.ts";
import { storedOrderFigures, type StoredOrderInput } from "./stored-order-figures.ts";

const input = (record: Partial<StoredOrderInput> = {}): StoredOrderInput => ({
  amount: null,
  initialAmount: null,
  discountAmount: 0n,
  lines: [],
  ...record,
});

function figuresOf(record: Partial<StoredOrderInput>) {
  const outcome = storedOrderFigures(input(record));
  if (outcome.kind === "rejected") throw new Error(outcome.rejection.details);
  return outcome.figures;
}

test("prefers the amounts of the lines to the amount of the order", () => {
  expect(figuresOf({ amount: 20_050n, lines: buildLines([2n, 1_000n], [3n, 1_000n]) }).amount).toBe(
    5_000n,
  );
});

test("uses the amount of the request without lines or with lines without amounts", () => {
  expect(figuresOf({ amount: 700n }).amount).toBe(700n);
  expect(figuresOf({ amount: 700n, lines: [buildLine({ quantity: 2n })] }).amount).toBe(700n);
});

test("multiplies price and quantity if both exist, otherwise uses the line's amount", () => {
  const lines = [
    buildLine({ quantity: 3n, amount: 5n, prices: { line: 100n } }),
    buildLine({ amount: 50n, prices: { line: 100n } }),
    buildLine({ quantity: 2n, prices: { storedProduct: 10n } }),
  ];
  expect(figuresOf({ lines }).lines.map(({ amount }) => amount)).toEqual([300n, 50n, 20n]);
});

test("rejects an amount that JSON cannot represent exactly", () => {
  const lines = buildLines([2n, BigInt(Number.MAX_SAFE_INTEGER)]);
  expect(storedOrderFigures(input({ lines }))).toMatchObject({
    kind: "rejected",
    rejection: { key: "invalid_order" },
  });
});

test("returns figures that add up without negative totals for any discounts sent", () => {
  const amount = fc.bigInt({ min: 0n, max: 1_000_000n });
  const line = fc
    .tuple(fc.option(amount), fc.option(amount), fc.bigInt({ min: 0n, max: 9n }), amount)
    .map(([price, sent, quantity, discountAmount]) =>
      buildLine({ amount: sent, quantity, discountAmount, prices: { line: price } }),
    );
  fc.assert(
    fc.property(
      fc.option(amount),
      amount,
      fc.array(line, { maxLength: 5 }),
      (sent, discountAmount, lines) => {
        const figures = figuresOf({ amount: sent, discountAmount, lines });
        expect(figures.totalAmount).toBe(figures.amount - figures.totalDiscountAmount);
        expect(figures.totalAmount >= 0n).toBe(true);
        expect(figures.itemsDiscountAmount).toBe(
          figures.lines.reduce((sum, each) => sum + each.discountAmount, 0n),
        );
        for (const each of figures.lines) {
          expect(each.subtotalAmount).toBe(each.amount - each.discountAmount);
          expect(each.subtotalAmount >= 0n).toBe(true);
        }
      },
    ),
  );
});

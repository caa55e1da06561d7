import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { sumOf } from "./minor-units.ts";
import {
  type AppliedFigures,
  type AppliedLine,
  rollBackFigures,
  type StoredLine,
} from "./order-rollback.ts";

const lineOf = (id: string, line: Partial<StoredLine> = {}): StoredLine => ({
  id,
  quantity: 1n,
  initialQuantity: 1n,
  amount: 1000n,
  initialAmount: 1000n,
  discountAmount: 0n,
  discountQuantity: 0n,
  ...line,
});

const appliedOf = (
  discountAmount: bigint,
  lines: Readonly<Record<string, Partial<AppliedLine>>> = {},
): AppliedFigures => ({
  discountAmount,
  lines: new Map(
    Object.entries(lines).map(([id, line]) => [
      id,
      { discountAmount: 0n, discountQuantity: 0n, quantity: 0n, quantityAmount: 0n, ...line },
    ]),
  ),
});

describe("rollBackFigures", () => {
  test("keeps the discounts of other redemptions", () => {
    const order = {
      amount: 2000n,
      initialAmount: 2000n,
      discountAmount: 500n,
      lines: [lineOf("a", { discountAmount: 300n, discountQuantity: 1n }), lineOf("b")],
    };
    const applied = appliedOf(200n, { a: { discountAmount: 100n, discountQuantity: 0n } });
    expect(rollBackFigures(order, applied, false)).toEqual({
      amount: 2000n,
      initialAmount: 2000n,
      discountAmount: 300n,
      itemsDiscountAmount: 200n,
      lines: [lineOf("a", { discountAmount: 200n, discountQuantity: 1n }), lineOf("b")],
    });
  });

  test("removes the free units and their added line", () => {
    const order = {
      amount: 4500n,
      initialAmount: 2000n,
      discountAmount: 0n,
      lines: [
        lineOf("a", { quantity: 3n, amount: 3000n, discountAmount: 2000n, discountQuantity: 2n }),
        lineOf("b"),
        lineOf("free", { initialQuantity: 0n, initialAmount: 0n, amount: 500n }),
      ],
    };
    const applied = appliedOf(0n, {
      a: { quantity: 2n, quantityAmount: 2000n, discountAmount: 2000n, discountQuantity: 2n },
      free: { quantity: 1n, quantityAmount: 500n },
    });
    const expected = {
      amount: 2000n,
      initialAmount: 2000n,
      discountAmount: 0n,
      itemsDiscountAmount: 0n,
      lines: [lineOf("a"), lineOf("b")],
    };
    expect(rollBackFigures(order, applied, false)).toEqual(expected);
    expect(rollBackFigures(order, applied, true)).toEqual(expected);
  });

  test("restores exchanged units", () => {
    const order = {
      amount: 1500n,
      initialAmount: 2000n,
      discountAmount: 0n,
      lines: [
        lineOf("from", { quantity: 1n, initialQuantity: 2n, initialAmount: 2000n }),
        lineOf("to", { initialQuantity: 0n, initialAmount: 0n, amount: 500n }),
      ],
    };
    const applied = appliedOf(0n, {
      from: { quantity: -1n, quantityAmount: -1000n },
      to: { quantity: 1n, quantityAmount: 500n },
    });
    expect(rollBackFigures(order, applied, false)).toMatchObject({
      amount: 2000n,
      lines: [
        lineOf("from", { quantity: 2n, initialQuantity: 2n, amount: 2000n, initialAmount: 2000n }),
      ],
    });
  });

  test("never makes figures negative in an order that was edited since", () => {
    const order = {
      amount: 300n,
      initialAmount: 300n,
      discountAmount: 100n,
      lines: [lineOf("a", { amount: 300n, initialAmount: 300n, discountAmount: 50n })],
    };
    const applied = appliedOf(900n, {
      a: { discountAmount: 80n },
      removed: { discountAmount: 70n },
    });
    expect(rollBackFigures(order, applied, false)).toMatchObject({
      amount: 300n,
      discountAmount: 0n,
      itemsDiscountAmount: 0n,
    });
  });
});

/**
 * A possible change of a redemption to a line: a discount, and added units with a price of a
 * hundred.
 */
const effects = fc.record({
  order: fc.bigInt({ min: 0n, max: 50n }),
  lines: fc.array(
    fc.record({
      id: fc.constantFrom("a", "b", "free"),
      off: fc.bigInt({ min: 0n, max: 50n }),
      units: fc.bigInt({ min: 0n, max: 3n }),
    }),
    { maxLength: 3 },
  ),
});

test("restores the order after all redemptions are rolled back, in any order", () => {
  const made = fc
    .array(effects, { minLength: 1, maxLength: 6 })
    .chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.shuffledSubarray([...list.keys()], { minLength: list.length }),
      ),
    );
  fc.assert(
    fc.property(made, ([list, sequence]) => {
      const applied = list.map(({ order, lines }) =>
        appliedOf(
          order,
          Object.fromEntries(
            lines.map(({ id, off, units }) => [
              id,
              {
                discountAmount: id === "free" ? 0n : off,
                quantity: units,
                quantityAmount: units * 100n,
              },
            ]),
          ),
        ),
      );
      const start = [lineOf("a"), lineOf("b")];
      const empty = lineOf("free", {
        quantity: 0n,
        initialQuantity: 0n,
        amount: 0n,
        initialAmount: 0n,
      });
      const raised = [...start, empty].map((line) => {
        const parts = applied.flatMap(({ lines }) => lines.get(line.id ?? "") ?? []);
        return {
          ...line,
          quantity: line.quantity + sumOf(parts, (part) => part.quantity),
          amount: line.amount + sumOf(parts, (part) => part.quantityAmount),
          discountAmount: sumOf(parts, (part) => part.discountAmount),
        };
      });
      let order = {
        amount: sumOf(raised, (line) => line.amount),
        initialAmount: 2000n,
        discountAmount: sumOf(applied, (one) => one.discountAmount),
        lines: raised,
      };
      for (const [at, index] of sequence.entries()) {
        const one = applied[index];
        if (one === undefined) throw new Error("no such redemption");
        const after = rollBackFigures(order, one, at === sequence.length - 1);
        expect(after.discountAmount + after.itemsDiscountAmount).toBeLessThanOrEqual(after.amount);
        expect(after.itemsDiscountAmount).toBe(sumOf(after.lines, (line) => line.discountAmount));
        order = { ...after, lines: [...after.lines] };
      }
      expect(order).toMatchObject({ amount: 2000n, discountAmount: 0n });
      expect(order.lines).toEqual(start);
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";

import { allocate } from "./allocate.ts";

const weights = fc
  .array(fc.bigInt(0n, 10n ** 9n), { minLength: 1, maxLength: 50 })
  .filter((all) => all.some((weight) => weight > 0n));

const sumOf = (parts: readonly bigint[]): bigint => parts.reduce((a, b) => a + b, 0n);

test("splits a total exactly, each part within one unit of its exact share", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 13n), weights, (total, shares) => {
      const parts = allocate(total, shares);
      expect(parts).toHaveLength(shares.length);
      expect(sumOf(parts)).toBe(total);
      for (const [index, part] of parts.entries()) {
        const floor = (total * (shares[index] ?? 0n)) / sumOf(shares);
        expect(part === floor || part === floor + 1n).toBe(true);
      }
    }),
  );
});

test("allocates nothing to a weight of zero, and never less to a greater weight", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 6n), weights, (total, shares) => {
      const parts = allocate(total, shares);
      const byWeight = shares
        .map((weight, index) => ({ weight, part: parts[index] ?? 0n }))
        .toSorted((a, b) => Number(a.weight - b.weight));
      for (const { weight, part } of byWeight) if (weight === 0n) expect(part).toBe(0n);
      for (const [index, { weight, part }] of byWeight.entries()) {
        const lighter = byWeight[index - 1];
        if (lighter && lighter.weight < weight) expect(part).toBeGreaterThanOrEqual(lighter.part);
      }
    }),
  );
});

test("splits a negative total like its mirror image", () => {
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 9n), weights, (total, shares) => {
      expect(allocate(-total, shares)).toEqual(allocate(total, shares).map((part) => -part));
    }),
  );
});

test("allocates the remaining units to the largest remainders, in order of position for equal ones", () => {
  expect(allocate(100n, [1n, 1n, 1n])).toEqual([34n, 33n, 33n]);
  expect(allocate(10n, [1n, 2n, 4n])).toEqual([1n, 3n, 6n]);
  expect(allocate(2n, [1n, 1n, 1n, 1n])).toEqual([1n, 1n, 0n, 0n]);
});

test("splits zero into zeros for any weights", () => {
  expect(allocate(0n, [])).toEqual([]);
  expect(allocate(0n, [0n, 0n])).toEqual([0n, 0n]);
  expect(allocate(0n, [3n, 5n])).toEqual([0n, 0n]);
});

test("rejects zero and negative weights for a total other than zero", () => {
  expect(() => allocate(1n, [])).toThrow(RangeError);
  expect(() => allocate(1n, [0n, 0n])).toThrow(RangeError);
  expect(() => allocate(1n, [2n, -1n])).toThrow(RangeError);
});

import fc from "fast-check";
import { expect, test } from "vitest";

import { roundHalfUp } from "./round.ts";

const nonZero = fc.bigInt(-(10n ** 12n), 10n ** 12n).filter((value) => value !== 0n);
const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);

test("is never further than half from the exact quotient", () => {
  fc.assert(
    fc.property(fc.bigInt(-(10n ** 15n), 10n ** 15n), nonZero, (numerator, denominator) => {
      const distance = magnitude(numerator - roundHalfUp(numerator, denominator) * denominator);
      expect(2n * distance).toBeLessThanOrEqual(magnitude(denominator));
    }),
  );
});

test("rounds exactly half away from zero", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 9n), fc.bigInt(1n, 10n ** 6n), (whole, factor) => {
      const half = (2n * whole + 1n) * factor;
      expect(roundHalfUp(half, 2n * factor)).toBe(whole + 1n);
      expect(roundHalfUp(-half, 2n * factor)).toBe(-whole - 1n);
      expect(roundHalfUp(half, -2n * factor)).toBe(-whole - 1n);
    }),
  );
});

test("rounds just below half towards zero", () => {
  expect(roundHalfUp(1499n, 1000n)).toBe(1n);
  expect(roundHalfUp(1500n, 1000n)).toBe(2n);
  expect(roundHalfUp(-1499n, 1000n)).toBe(-1n);
  expect(roundHalfUp(0n, 7n)).toBe(0n);
});

test("rejects a division by zero", () => {
  expect(() => roundHalfUp(1n, 0n)).toThrow(RangeError);
});

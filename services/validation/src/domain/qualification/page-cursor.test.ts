import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { compareNewest, isBehind, parsePlace, type Place, placeText } from "./page-cursor.ts";

const at = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
const tail = fc
  .bigInt({ min: 0n, max: 2n ** 72n - 1n })
  .map((number) => number.toString(16).padStart(18, "0"));
const amount = fc.bigInt({ min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) });
const place = fc.oneof(
  fc.record({ at, tail: fc.constant(null) }),
  fc.record({ at, tail }),
  fc.record({ at, tail, amount }),
);

describe("places", () => {
  test("are read as they were written", () => {
    fc.assert(
      fc.property(place, (one) => {
        expect(parsePlace(placeText(one))).toEqual(one);
      }),
    );
  });

  test("are date-times, and begin with the instant", () => {
    fc.assert(
      fc.property(place, (one) => {
        const text = placeText(one);
        expect(text).toMatch(/^[-0-9]{10}T[:0-9]{8}\.\d{3,45}Z$/);
        expect(Date.parse(`${text.slice(0, 23)}Z`)).toBe(one.at);
      }),
    );
  });

  test("part what is behind them from what is not, as the order of creation does", () => {
    const close = fc.integer({ min: 0, max: 2 });
    const made = fc.record({ at: close, tail });
    fc.assert(
      fc.property(made, made, (one, other) => {
        expect(isBehind(one, other)).toBe(compareNewest(one, other) > 0);
        const instant: Place = { at: other.at, tail: null };
        expect(isBehind(one, instant)).toBe(one.at < other.at);
      }),
    );
  });

  test.each([
    ["2026-12-01T10:00:00Z", Date.UTC(2026, 11, 1, 10)],
    ["2026-12-01T11:00:00.5+01:00", Date.UTC(2026, 11, 1, 10, 0, 0, 500)],
    ["2026-12-01T10:00Z", Date.UTC(2026, 11, 1, 10)],
    ["2026-12-01T10:00:00.123456Z", Date.UTC(2026, 11, 1, 10, 0, 0, 123)],
  ])("stand for a time of the caller's own, such as %s", (text, instant) => {
    expect(parsePlace(text)).toEqual({ at: instant, tail: null });
  });

  test.each([
    "",
    "2026-12-01",
    "2026-02-30T10:00:00Z",
    "2026-12-01T10:00:00",
    "now",
    "2026-12-01T10:00:00.Z",
  ])("are not read from %j", (text) => {
    expect(parsePlace(text)).toBeNull();
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  compareNewest,
  isAfterCursor,
  parsePageCursor,
  type PageCursor,
  formatPageCursor,
} from "./page-cursor.ts";

const createdAt = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
const idSuffix = fc
  .bigInt({ min: 0n, max: 2n ** 72n - 1n })
  .map((number) => number.toString(16).padStart(18, "0"));
const amount = fc.bigInt({ min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) });
const cursor = fc.oneof(
  fc.record({ createdAt, idSuffix: fc.constant(null) }),
  fc.record({ createdAt, idSuffix }),
  fc.record({ createdAt, idSuffix, amount }),
);

describe("a page cursor", () => {
  test("is parsed as it was formatted", () => {
    fc.assert(
      fc.property(cursor, (one) => {
        expect(parsePageCursor(formatPageCursor(one))).toEqual(one);
      }),
    );
  });

  test("is a date-time that begins with the creation time", () => {
    fc.assert(
      fc.property(cursor, (one) => {
        const text = formatPageCursor(one);
        expect(text).toMatch(/^[-0-9]{10}T[:0-9]{8}\.\d{3,45}Z$/);
        expect(Date.parse(`${text.slice(0, 23)}Z`)).toBe(one.createdAt);
      }),
    );
  });

  test("separates later items from earlier ones by the order of creation", () => {
    const close = fc.integer({ min: 0, max: 2 });
    const positions = fc.record({ createdAt: close, idSuffix });
    fc.assert(
      fc.property(positions, positions, (one, other) => {
        expect(isAfterCursor(one, other)).toBe(compareNewest(one, other) > 0);
        const instant: PageCursor = { createdAt: other.createdAt, idSuffix: null };
        expect(isAfterCursor(one, instant)).toBe(one.createdAt < other.createdAt);
      }),
    );
  });

  test.each([
    ["2026-12-01T10:00:00Z", Date.UTC(2026, 11, 1, 10)],
    ["2026-12-01T11:00:00.5+01:00", Date.UTC(2026, 11, 1, 10, 0, 0, 500)],
    ["2026-12-01T10:00Z", Date.UTC(2026, 11, 1, 10)],
    ["2026-12-01T10:00:00.123456Z", Date.UTC(2026, 11, 1, 10, 0, 0, 123)],
  ])("may be any date-time of the caller, such as %s", (text, instant) => {
    expect(parsePageCursor(text)).toEqual({ createdAt: instant, idSuffix: null });
  });

  test.each([
    "",
    "2026-12-01",
    "2026-02-30T10:00:00Z",
    "2026-12-01T10:00:00",
    "now",
    "2026-12-01T10:00:00.Z",
  ])("is not parsed from %j", (text) => {
    expect(parsePageCursor(text)).toBeNull();
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { parseCodeConfig } from "./code-config.ts";
import { allCodesOf, capacityOf } from "./generate-code.ts";
import { createRandomIndex, randomIndex, sampleOf } from "./random-index.ts";

/** Provides every byte equally often. */
const everyByte = () => {
  let next = 0;
  return (bytes: Uint8Array) => {
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = next++ % 256;
  };
};

describe("createRandomIndex", () => {
  test("returns each number equally often for bytes that are equally frequent", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 256 }), (size) => {
        const draw = createRandomIndex(everyByte());
        const counts = Array.from({ length: size }, () => 0);
        const perNumber = Math.floor(256 / size);
        for (let index = 0; index < size * perNumber; index += 1) {
          const number = draw(size);
          counts[number] = (counts[number] ?? 0) + 1;
        }
        expect(new Set(counts)).toEqual(new Set([perNumber]));
      }),
    );
  });

  test("stays in range for sizes of more than one byte", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), (size) => {
        const number = randomIndex(size);
        expect(number >= 0 && number < size && Number.isInteger(number)).toBe(true);
      }),
    );
  });
});

describe("sampleOf", () => {
  test("takes different items, and all of them when more are requested", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat()), fc.nat({ max: 20 }), (items, count) => {
        const sample = sampleOf(items, count, randomIndex);
        expect(sample).toHaveLength(Math.min(count, items.length));
        expect(new Set(sample).size).toBe(sample.length);
        for (const item of sample) expect(items).toContain(item);
      }),
    );
  });
});

describe("allCodesOf", () => {
  test("lists as many different codes as the mask has", () => {
    for (const config of [{ pattern: "A#-#", charset: "xyz", prefix: "<" }, { pattern: "FIXED" }]) {
      const parsed = parseCodeConfig(config, true);
      if (parsed.kind === "violation") throw new Error(parsed.text);
      const codes = allCodesOf(parsed.mask);
      expect(BigInt(new Set(codes).size)).toBe(capacityOf(parsed.mask));
      expect(BigInt(codes.length)).toBe(capacityOf(parsed.mask));
    }
  });
});

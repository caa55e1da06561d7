import { describe, expect, test } from "vitest";

import { type CodeConfig, mergeCodeConfig, normalize, parseCodeConfig } from "./code-config.ts";
import { capacityOf, capacityViolation, entropyBitsOf } from "./generate-code.ts";

const maskOf = (config: CodeConfig, caseSensitive = true) => {
  const parsed = parseCodeConfig(config, caseSensitive);
  if (parsed.kind === "violation") throw new Error(parsed.text);
  return parsed.mask;
};

describe("parseCodeConfig", () => {
  test("draws eight of sixty-two characters without a config", () => {
    expect(capacityOf(maskOf({}))).toBe(62n ** 8n);
  });

  test.each([
    ["the length", { length: 3, charset: "ab" }, 8n],
    [
      "the placeholders of a pattern, which wins over the length",
      { pattern: "X-##", length: 9, charset: "abc" },
      9n,
    ],
    ["the distinct characters of a charset", { length: 2, charset: "aab" }, 4n],
    ["one without placeholders", { pattern: "FIXED" }, 1n],
  ])("derives the capacity from %s", (_name, config, capacity) => {
    expect(capacityOf(maskOf(config))).toBe(capacity);
  });

  test("counts two cases as one character where codes ignore case", () => {
    expect(capacityOf(maskOf({ length: 2, charset: "aAbB" }, false))).toBe(4n);
    expect(capacityOf(maskOf({ length: 2, charset: "aAbB" }, true))).toBe(16n);
  });

  test.each([
    ["no length", { length: 0 }, ".length"],
    ["a length above 200", { length: 201 }, ".length"],
    ["a length above 200 beside a pattern", { pattern: "A-##", length: 201 }, ".length"],
    ["a fraction as length", { length: 1.5 }, ".length"],
    ["an empty charset", { charset: "" }, ".charset"],
    ["a blank in the charset", { charset: "a b" }, ".charset"],
    ["a placeholder in the charset", { charset: "a#" }, ".charset"],
    ["an empty pattern", { pattern: "" }, ".pattern"],
    ["a control character", { prefix: "a\u0007" }, ".prefix"],
    ["codes above 255", { length: 200, prefix: "p".repeat(56) }, "longer than 255"],
  ])("rejects %s", (_name, config, text) => {
    expect(parseCodeConfig(config, true)).toEqual({
      kind: "violation",
      text: expect.stringContaining(text),
    });
  });

  test("accepts a charset of 255 characters", () => {
    expect(parseCodeConfig({ length: 200, prefix: "p".repeat(55) }, true).kind).toBe("mask");
  });
});

describe("entropyBitsOf", () => {
  test.each([
    ["eight of sixty-two characters", {}, true, 47.63],
    ["ten bits", { length: 10, charset: "01" }, true, 10],
    ["a pattern", { pattern: "SUN-####" }, true, 23.81],
    ["one code", { pattern: "FIXED" }, true, 0],
    ["letters of either case", { length: 2, charset: "aAbB" }, true, 4],
    ["letters whose case is ignored", { length: 2, charset: "aAbB" }, false, 2],
  ])("never overstates %s", (_name, config, caseSensitive, bits) => {
    const mask = maskOf(config, caseSensitive);
    expect(entropyBitsOf(mask)).toBe(bits);
    expect(2 ** bits).toBeLessThanOrEqual(Number(capacityOf(mask)));
  });
});

describe("capacityViolation", () => {
  test("reports a request for more codes than the mask has", () => {
    const mask = maskOf({ length: 2, charset: "ab" });
    expect(capacityViolation(mask, 4n)).toBeNull();
    expect(capacityViolation(mask, 5n)).toBe(
      "Code config allows to generate up to 4 unique codes, requested 5",
    );
  });
});

describe("mergeCodeConfig", () => {
  test("replaces a pattern by a length that the request sends", () => {
    const standing = { pattern: "X-##", charset: "ab", prefix: "p" };
    expect(mergeCodeConfig(standing, { length: 3 })).toEqual({
      charset: "ab",
      prefix: "p",
      length: 3,
    });
    expect(mergeCodeConfig(standing, { charset: "xy" })).toEqual({ ...standing, charset: "xy" });
  });

  test("replaces a length by a pattern that the request sends", () => {
    const standing = { pattern: "FIXED", length: 0, prefix: "p" };
    expect(mergeCodeConfig(standing, { pattern: "#" })).toEqual({ pattern: "#", prefix: "p" });
  });
});

describe("normalize", () => {
  test.each([
    {},
    { length: 3 },
    { pattern: "X-##" },
    { pattern: "X" },
    { pattern: "X", length: 5 },
  ])("accepts %j again as the response shows it, with the same meaning", (config) => {
    const normal = normalize(config, maskOf(config));
    expect(maskOf(normal)).toEqual(maskOf(config));
    expect(normalize(normal, maskOf(normal))).toEqual(normal);
  });

  test("stores the number of drawn characters instead of a later default", () => {
    const config = { pattern: "L-CARD-#######" };
    expect(normalize(config, maskOf(config))).toEqual({
      length: 7,
      charset: "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
      pattern: "L-CARD-#######",
    });
    const short = { length: 2, charset: "ab", prefix: "<" };
    expect(normalize(short, maskOf(short))).toEqual({
      length: 2,
      charset: "ab",
      pattern: "##",
      prefix: "<",
    });
  });
});

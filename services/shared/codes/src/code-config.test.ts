import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  capacityOf,
  type CodeConfig,
  drawCode,
  mergeCodeConfig,
  normalize,
  parseCodeConfig,
  patternOf,
} from "./code-config.ts";

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

describe("patternOf", () => {
  test("matches every drawn code, whatever surrounds the placeholders", () => {
    const text = fc.stringMatching(/^[-a-c#.*+?^$()[\]{}|\\/ ]{1,8}$/);
    const charset = fc
      .uniqueArray(fc.constantFrom("a", "]", "[", "^", "-", "\\", "7"), { minLength: 1 })
      .map((characters) => characters.join(""));
    fc.assert(
      fc.property(text, text, charset, fc.nat(), (pattern, prefix, characters, seed) => {
        const mask = maskOf({ pattern, prefix, charset: characters });
        const code = drawCode(mask, (size) => seed % size);
        expect(code).toMatch(new RegExp(patternOf(mask)));
        expect(`${code}!`).not.toMatch(new RegExp(patternOf(mask)));
      }),
    );
  });
});

describe("drawCode", () => {
  test("fills each placeholder of the mask and nothing else", () => {
    let drawn = 0;
    const code = drawCode(
      maskOf({ pattern: "A#-#", charset: "xyz", prefix: "#", postfix: "!" }),
      () => (drawn += 1),
    );
    expect(code).toBe("#Ay-z!");
  });

  test("draws codes in the shape of the mask for any alphabet", () => {
    const charset = fc
      .uniqueArray(fc.constantFrom("a", "B", "7", "é", "漢", "😀"), { minLength: 1 })
      .map((characters) => characters.join(""));
    fc.assert(
      fc.property(
        charset,
        fc.integer({ min: 1, max: 40 }),
        fc.nat(),
        (characters, length, seed) => {
          const mask = maskOf({ charset: characters, length, prefix: "<", postfix: ">" });
          const code = drawCode(mask, (size) => seed % size);
          const drawn = Array.from(code).slice(1, -1);
          expect(drawn).toHaveLength(length);
          for (const character of drawn) expect(Array.from(characters)).toContain(character);
        },
      ),
    );
  });
});

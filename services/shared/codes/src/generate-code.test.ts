import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { type CodeConfig, parseCodeConfig } from "./code-config.ts";
import { generateCode, patternOf } from "./generate-code.ts";

const maskOf = (config: CodeConfig) => {
  const parsed = parseCodeConfig(config, true);
  if (parsed.kind === "violation") throw new Error(parsed.text);
  return parsed.mask;
};

describe("patternOf", () => {
  test("matches every drawn code for any text around the placeholders", () => {
    const text = fc.stringMatching(/^[-a-c#.*+?^$()[\]{}|\\/ ]{1,8}$/);
    const charset = fc
      .uniqueArray(fc.constantFrom("a", "]", "[", "^", "-", "\\", "7"), { minLength: 1 })
      .map((characters) => characters.join(""));
    fc.assert(
      fc.property(text, text, charset, fc.nat(), (pattern, prefix, characters, seed) => {
        const mask = maskOf({ pattern, prefix, charset: characters });
        const code = generateCode(mask, (size) => seed % size);
        expect(code).toMatch(new RegExp(patternOf(mask)));
        expect(`${code}!`).not.toMatch(new RegExp(patternOf(mask)));
      }),
    );
  });
});

describe("generateCode", () => {
  test("fills each placeholder of the mask and nothing else", () => {
    let drawn = 0;
    const code = generateCode(
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
          const code = generateCode(mask, (size) => seed % size);
          const drawn = Array.from(code).slice(1, -1);
          expect(drawn).toHaveLength(length);
          for (const character of drawn) expect(Array.from(characters)).toContain(character);
        },
      ),
    );
  });
});

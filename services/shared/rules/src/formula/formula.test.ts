import { decimalText } from "@scrip/money";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { type FormulaScope, evaluateFormula } from "./evaluate.ts";
import { caseMetadata, cases, violations } from "./formula.test-cases.ts";
import { type ParsedFormula, parseFormula } from "./parse.ts";
import { moneyValue } from "./value.ts";

const scope: FormulaScope = {
  time: { now: Date.parse("2026-11-20T23:30:00Z"), timeZone: "Europe/Warsaw" },
  operand: (name) => (name === "ORDER_AMOUNT" ? moneyValue(42_550n) : null),
  metadata: (name) => caseMetadata[name] ?? null,
};

describe("a formula", () => {
  test.each(cases)("evaluates %s to %s", (formula, value) => {
    expect(resultOf(formula)).toBe(value);
  });

  test.each(violations)("rejects %s: %s", (formula, text) => {
    expect(parseFormula(formula)).toEqual({ kind: "violation", text });
  });

  test("accepts the maximum length, size and depth", () => {
    expect(resultOf(`1${"+1".repeat(99)}`)).toBe("100");
    expect(resultOf(`${"(".repeat(32)}1${")".repeat(32)}`)).toBe("1");
    expect(resultOf(`1${" ".repeat(999)}`)).toBe("1");
  });

  test("explains why it falls back to the static value", () => {
    const reasonOf = (formula: string) => evaluateFormula(parsedOf(formula), scope);
    expect(reasonOf("1 + NOBODY")).toEqual({ kind: "fallback", reason: "NOBODY has no value" });
    expect(reasonOf("1 / (2 - 2)")).toEqual({ kind: "fallback", reason: "a division by zero" });
    expect(reasonOf('"a" * 2')).toEqual({ kind: "fallback", reason: "a text is not a number" });
  });

  test("detects whether it reads the discounted line", () => {
    expect(parsedOf("IF(1 = 2; ORDER_ITEM_PRICE; 1)").readsLine).toBe(true);
    expect(parsedOf('order_item_metadata("k")').readsLine).toBe(true);
    expect(parsedOf("CHEAPEST_ORDER_ITEM_PRICE + ORDER_ITEMS_QUANTITY").readsLine).toBe(false);
  });
});

/** An independent reference: fractions of bigints over a generated tree, without a parser. */
type Fraction = readonly [bigint, bigint];
type BuiltFormula = {
  readonly text: string;
  readonly value: Fraction | null;
  readonly binds: number;
};

const literal = fc
  .tuple(fc.bigInt(0n, 99_999n), fc.integer({ min: 0, max: 3 }))
  .map(([digits, scale]): BuiltFormula => {
    const padded = digits.toString().padStart(scale + 1, "0");
    const point = padded.length - scale;
    const text = scale === 0 ? padded : `${padded.slice(0, point)}.${padded.slice(point)}`;
    return { text, value: [digits, 10n ** BigInt(scale)], binds: 9 };
  });

const { tree } = fc.letrec<{ tree: BuiltFormula; node: BuiltFormula }>((tie) => ({
  tree: fc.oneof({ maxDepth: 4, depthSize: "small" }, literal, tie("node")),
  node: fc.oneof(
    fc
      .tuple(tie("tree"), tie("tree"), fc.constantFrom("+", "-", "*", "/", "%"), fc.boolean())
      .map(([a, b, operator, spaced]) => binary(operator, a, b, spaced)),
    tie("tree").map((a): BuiltFormula => ({
      text: `-(${a.text})`,
      value: negative(a.value),
      binds: 8,
    })),
    fc
      .tuple(tie("tree"), tie("tree"), tie("tree"), tie("tree"))
      .map(([a, b, then, otherwise]) => conditional(a, b, then, otherwise)),
    fc.tuple(tie("tree"), tie("tree")).map(([a, b]): BuiltFormula => ({
      text: `default_to(${a.text};${b.text})`,
      value: a.value ?? b.value,
      binds: 9,
    })),
    fc.tuple(tie("tree"), tie("tree")).map(([a, b]): BuiltFormula => ({
      text: `Max(${a.text}; ${b.text})`,
      value: a.value && b.value && (below(a.value, b.value) ? b.value : a.value),
      binds: 9,
    })),
  ),
}));

function binary(operator: string, a: BuiltFormula, b: BuiltFormula, spaced: boolean): BuiltFormula {
  const binds = operator === "+" || operator === "-" ? 4 : 5;
  const left = a.binds < binds ? `(${a.text})` : a.text;
  const right = b.binds <= binds ? `(${b.text})` : b.text;
  const text = spaced ? `${left} ${operator} ${right}` : `${left}${operator}${right}`;
  return { text, value: a.value && b.value && apply(operator, a.value, b.value), binds };
}

function conditional(
  a: BuiltFormula,
  b: BuiltFormula,
  then: BuiltFormula,
  otherwise: BuiltFormula,
): BuiltFormula {
  const text = `IF(${a.text} < ${b.text}; ${then.text}; ${otherwise.text})`;
  const isLess = a.value && b.value && below(a.value, b.value);
  return { text, value: isLess === null ? null : (isLess ? then : otherwise).value, binds: 9 };
}

function apply(operator: string, [a, b]: Fraction, [c, d]: Fraction): Fraction | null {
  if (operator === "+") return [a * d + c * b, b * d];
  if (operator === "-") return [a * d - c * b, b * d];
  if (operator === "*") return [a * c, b * d];
  if (c === 0n) return null;
  if (operator === "/") return c < 0n ? [-a * d, -b * c] : [a * d, b * c];
  return [(a * d) % (c * b), b * d];
}

const negative = (value: Fraction | null): Fraction | null => value && [-value[0], value[1]];

const below = ([a, b]: Fraction, [c, d]: Fraction): boolean => a * d < c * b;

test("agrees with fractions of integers to 20 digits", () => {
  let compared = 0;
  fc.assert(
    fc.property(tree, ({ text, value }) => {
      const parsed = parseFormula(text);
      fc.pre(parsed.kind === "formula" && isSteady(text));
      const result = resultOf(text);
      if (value === null) {
        expect(result).toBeNull();
        return;
      }
      const digits = 10n ** 20n;
      expect(result).not.toBeNull();
      const [whole = "", fraction = ""] = (result ?? "").split(".");
      const read = BigInt(whole + fraction.padEnd(20, "0").slice(0, 20));
      const exact = (value[0] * digits) / value[1];
      const distance = read > exact ? read - exact : exact - read;
      // At most sixteen digits before the point leave 24 after it; rounding adds one unit.
      expect(distance).toBeLessThanOrEqual(10n);
      compared += 1;
    }),
    { numRuns: 2000 },
  );
  expect(compared).toBeGreaterThan(300);
});

/** A rounded quotient may fall on the other side of a step, which no tolerance covers. */
const isSteady = (text: string): boolean =>
  !text.includes("/") || (!text.includes("%") && !text.includes("IF") && !/\/.*\//.test(text));

test("bounds its number of evaluation steps", () => {
  expect(parsedOf("1 + 2").steps).toBe(3);
  expect(parsedOf("POW(2; 3)").steps).toBe(23);
});

describe("hostile formulas", () => {
  const words = fc.constantFrom(
    ..."( ) ; + - * / % x × ÷ > < = >= != AND OR is contains IN_ARRAY IF( SWITCH( SWITCH_CASE(".split(
      " ",
    ),
    ..."MAX( POW( ROUND( DEFAULT_TO( DATE( NOW 9 9.99 99999999999999999999 0".split(" "),
    ...'"a" "2026-11-21" CUSTOMER_METADATA( "age" ORDER_AMOUNT \\ é \u0000 __proto__'.split(" "),
  );

  test("never throw for any content", () => {
    fc.assert(
      fc.property(fc.array(words, { maxLength: 400 }), (parts) => {
        const formula = parts.join(" ");
        const parsed = parseFormula(formula);
        if (parsed.kind === "formula") evaluateFormula(parsed.formula, scope);
      }),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 1100, unit: "binary" }), (text) => {
        const parsed = parseFormula(text);
        if (parsed.kind === "formula") evaluateFormula(parsed.formula, scope);
      }),
    );
  });

  test.each([
    ["powers of powers", nest("POW(", ";1000)", 31, "9")],
    [
      "products of large numbers",
      Array.from({ length: 45 }, () => "99999999999999999999").join("*"),
    ],
    ["quotients", `1${"/3".repeat(99)}`],
    ["tiny powers", nest("POW(", ";1000)", 31, "0.999999999999")],
    ["negative powers", nest("POW(", ";-1000)", 31, "1.000000000001")],
    ["defaults within defaults", nest("DEFAULT_TO(1/0;", ")", 31, "1/0")],
    ["a long name", "A".repeat(100_000)],
    ["a long text", `"${"\\\\".repeat(50_000)}`],
    ["many parentheses", "(".repeat(100_000)],
    ["many signs", "-".repeat(1000)],
    ["many spaces", " ".repeat(1000)],
  ])("%s are processed quickly", (_what, formula) => {
    const before = process.cpuUsage();
    for (let times = 0; times < 10; times += 1) {
      const parsed = parseFormula(formula);
      if (parsed.kind === "formula") evaluateFormula(parsed.formula, scope);
    }
    // CPU time of this process: a busy machine must not fail the test.
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(300);
  });

  test("do not fill the memory: unused parsed formulas are dropped", () => {
    const first = parseFormula("1 + 0");
    expect(parseFormula("1 + 0")).toBe(first);
    for (let count = 1; count <= 600; count += 1) parseFormula(`1 + ${count}`);
    expect(parseFormula("1 + 0")).not.toBe(first);
    expect(parseFormula("1 + 0")).toEqual(first);
  });
});

function nest(open: string, close: string, depth: number, inner: string): string {
  return open.repeat(depth) + inner + close.repeat(depth);
}

function parsedOf(formula: string) {
  const parsed: ParsedFormula = parseFormula(formula);
  if (parsed.kind === "violation") throw new Error(`${formula}: ${parsed.text}`);
  return parsed.formula;
}

function resultOf(formula: string): string | null {
  const result = evaluateFormula(parsedOf(formula), scope);
  return result.kind === "number" ? decimalText(result.value) : null;
}

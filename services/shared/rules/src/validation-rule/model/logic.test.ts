import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { evaluateLogic } from "../evaluate/evaluate-logic.ts";
import { type Logic, allOf, logicText, numbersIn, parseLogic } from "./logic.ts";

const anyLogic = fc.letrec<{ logic: Logic }>((tie) => ({
  logic: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    fc.integer({ min: 1, max: 6 }).map((number): Logic => ({ kind: "rule", number })),
    fc.record({
      kind: fc.constantFrom("all" as const, "any" as const),
      parts: fc.array(tie("logic"), { minLength: 2, maxLength: 4 }),
    }),
  ),
})).logic;

/** For each rule, whether it holds; null: unknown. */
const anyWorld = fc.array(fc.option(fc.boolean()), { minLength: 7, maxLength: 7 });

describe("a logic expression", () => {
  test.each([
    ["1", "1"],
    ["1 AND 2", "1 AND 2"],
    ["1 OR 2 AND 3", "1 OR (2 AND 3)"],
    ["1 AND 2 OR 3 AND 4", "(1 AND 2) OR (3 AND 4)"],
    ["(1 or 2) and 3", "(1 OR 2) AND 3"],
    ["((1))", "1"],
    ["(1)AND(2)", "1 AND 2"],
  ])("parses %s as %s", (text, expected) => {
    expect(logicText(parsed(text))).toBe(expected);
  });

  test.each([
    ["1 AND", "it ends too early"],
    ["AND 1", "'AND' is unexpected"],
    ["1 2", "'2' is unexpected"],
    ["(1", "a ')' is missing"],
    ["1)", "')' is unexpected"],
    ["", "it ends too early"],
    ["NOT 1", "'NOT' is unexpected"],
    ["0", "'0' is unexpected"],
    ["1 XOR 2", "'XOR' is unexpected"],
    ["1.5", "'1.5' is unexpected"],
    ["(".repeat(33) + "1" + ")".repeat(33), "it is nested deeper than 32 levels"],
    ["1 ".repeat(501), "it is longer than 1000 characters"],
  ])("rejects %s", (text, violation) => {
    expect(parseLogic(text)).toEqual({ kind: "violation", text: violation });
  });

  test("formats and parses back to the same expression", () => {
    fc.assert(
      fc.property(anyLogic, (logic) => {
        const text = logicText(logic);
        fc.pre(text.length <= 1000);
        expect(logicText(parsed(text))).toBe(text);
        expect(numbersIn(parsed(text))).toEqual(numbersIn(logic));
      }),
    );
  });

  test("never makes the parser throw", () => {
    const anyText = fc.array(fc.constantFrom("1", "2", "(", ")", "AND", "or", " ", "x", "0"));
    fc.assert(fc.property(anyText, (parts) => void parseLogic(parts.join(" "))));
  });

  test("evaluates as the reference does, and unknown rules never decide", () => {
    fc.assert(
      fc.property(anyLogic, anyWorld, (logic, world) => {
        const verdict = evaluateLogic(logic, (number) => world[number] ?? null);
        const worlds = completions(world).map((complete) => reference(logic, complete));
        // Known early exactly when all possible values of the unknown rules agree.
        const isCertain = worlds.every((one) => one === worlds[0]);
        if (verdict !== null) expect(worlds.every((one) => one === verdict)).toBe(true);
        if (new Set(repeats(logic)).size === repeats(logic).length) {
          expect(verdict !== null).toBe(isCertain);
        }
      }),
    );
  });

  test("stops when it is decided, and reports the required rules", () => {
    const seen: [number, boolean][] = [];
    const world = [null, true, false, true, false, true];
    evaluateLogic(parsed("1 AND (2 OR 3 OR 4) AND 5 AND 2 AND 1"), (number, isRequired) => {
      seen.push([number, isRequired]);
      return world[number] ?? null;
    });
    expect(seen).toEqual([
      [1, true],
      [2, false],
      [3, false],
      [5, true],
      [2, true],
    ]);
  });

  test("fails when a required rule fails", () => {
    fc.assert(
      fc.property(anyLogic, anyWorld, (logic, world) => {
        const required: number[] = [];
        const complete = world.map((one) => one === true);
        const verdict = evaluateLogic(logic, (number, isRequired) => {
          if (isRequired) required.push(number);
          return complete[number] ?? false;
        });
        fc.pre(verdict === true);
        for (const number of required) {
          const changed = complete.with(number, false);
          expect(reference(logic, changed)).toBe(false);
        }
      }),
    );
  });

  test("requires all rules by default", () => {
    expect([[], [4], [1, 2]].map((numbers) => logicText(allOf(numbers)))).toEqual([
      "",
      "4",
      "1 AND 2",
    ]);
    expect(evaluateLogic(allOf([]), () => false)).toBe(true);
  });
});

function parsed(text: string): Logic {
  const read = parseLogic(text);
  if (read.kind === "violation") throw new Error(read.text);
  return read.logic;
}

function reference(logic: Logic, world: readonly boolean[]): boolean {
  if (logic.kind === "rule") return world[logic.number] ?? false;
  return logic.kind === "all"
    ? logic.parts.every((part) => reference(part, world))
    : logic.parts.some((part) => reference(part, world));
}

/** All assignments of the unknown rules. */
const completions = (world: readonly (boolean | null)[]): boolean[][] =>
  world.reduce<boolean[][]>(
    (worlds, one) =>
      worlds.flatMap((so) =>
        one === null
          ? [
              [...so, false],
              [...so, true],
            ]
          : [[...so, one]],
      ),
    [[]],
  );

/** The rules, as often as the expression names them. */
const repeats = (logic: Logic): readonly number[] =>
  logic.kind === "rule" ? [logic.number] : logic.parts.flatMap(repeats);

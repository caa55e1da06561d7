import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { buildRule } from "../../../test/builders.ts";
import { meetsConditions } from "../evaluate/count-conditions.ts";
import { smallestDifference, expectedMembers } from "./smallest-difference.ts";

const conditionsOf = (conditions: object, name = "order.amount") =>
  buildRule({ 1: { name, property: "p", conditions } }).rules.get(1)!.conditions;

describe("the smallest difference", () => {
  test.each([
    [7500n, { $more_than_or_equal: [10000] }, 2500n],
    [7500n, { $more_than: [10000] }, 2501n],
    [7500n, { $more_than: [9999.5] }, 2500n],
    [7500n, { $less_than: [7300] }, -201n],
    [7500n, { $less_than_or_equal: [7300] }, -200n],
    [5n, { $is: [1, 7, 12] }, 2n],
    [5n, { $in: [4, 7] }, -1n],
    [5n, { $is_not: [5] }, -1n],
    [0n, { $is_not: [0, 1, 2] }, 3n],
    [5n, { $not_in: [4, 5, 6, 7] }, -2n],
    [5n, { $more_than: [9], $is_not: [10, 11] }, 7n],
    [5n, { $more_than: [9], $less_than: [10] }, null],
    [5n, { $less_than: [0] }, null],
    [5n, { $is: [2.5] }, null],
  ])("from %i to meet %j is %o", (value, conditions, difference) => {
    expect(smallestDifference(value, conditionsOf(conditions))).toBe(difference);
  });

  test("meets the conditions, and no smaller one does", () => {
    const operand = fc.oneof(
      fc.nat(60),
      fc.nat(120).map((halves) => halves / 2),
    );
    const anyConditions = fc.record(
      {
        $more_than: fc.tuple(operand),
        $more_than_or_equal: fc.tuple(operand),
        $less_than: fc.tuple(operand),
        $less_than_or_equal: fc.tuple(operand),
        $in: fc.array(operand, { minLength: 1, maxLength: 5 }),
        $is_not: fc.array(operand, { minLength: 1, maxLength: 5 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.nat(60), anyConditions, (start, conditions) => {
        fc.pre(Object.keys(conditions).length > 0);
        const holds = (value: number) => meetsConditions(BigInt(value), conditions);
        const difference = smallestDifference(BigInt(start), conditionsOf(conditions));
        const solutions = Array.from({ length: 200 }, (_, value) => value).filter(holds);
        if (difference === null) {
          expect(solutions).toEqual([]);
          return;
        }
        const distance = Math.abs(Number(difference));
        expect(holds(start + Number(difference))).toBe(true);
        expect(solutions.filter((value) => Math.abs(value - start) < distance)).toEqual([]);
      }),
    );
  });
});

test.each([
  ["customer.segment", { $is: ["seg_1", "seg_2"] }, ["seg_1", "seg_2"]],
  ["customer.segment", { $is_not: ["seg_1"] }, []],
  ["customer.metadata", { $in: ["a", "a", true], $starts_with: ["a"] }, ["a", "true"]],
  [
    "order.items.any",
    { $is: ["prod_1", { source_id: "mug" }], $from: ["pc_1"] },
    ["prod_1", "mug", "pc_1"],
  ],
  ["order.amount", { $is: [5] }, []],
])("lists the members that %s requires by %j", (name, conditions, members) => {
  expect(expectedMembers(conditionsOf(conditions, name))).toEqual(members);
});

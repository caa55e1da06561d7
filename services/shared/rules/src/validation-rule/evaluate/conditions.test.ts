import { describe, expect, test } from "vitest";

import { buildDefinition, buildReader, buildRule } from "../../../test/builders.ts";
import type { MetadataValue } from "../../formula/value.ts";
import { parseValidationRule } from "../parse/parse-rule.ts";
import { checkRule } from "./check-rule.ts";
import { operators, rejectedConditions } from "./conditions.test-cases.ts";
import { metadataOperand } from "./operands.ts";

describe("a condition", () => {
  test.each(operators)("%s %j", (operator, operands, met, unmet) => {
    const conditions = { [operator]: operands };
    const resultOf = (value: MetadataValue | undefined) => [value, isMet(conditions, value)];
    expect([...met, ...unmet].map(resultOf)).toEqual([
      ...met.map((value) => [value, true]),
      ...unmet.map((value) => [value, false]),
    ]);
  });

  test("must hold together with the other conditions of its rule", () => {
    const conditions = { $more_than: [1], $less_than: [5] };
    expect([1, 2, 4, 5].map((value) => isMet(conditions, value))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  test.each(rejectedConditions)("is rejected as %j", (conditions, text) => {
    const rules = { 1: { name: "customer.metadata", property: "p", conditions } };
    expect(parseValidationRule(buildDefinition(rules))).toEqual({ kind: "violation", text });
  });

  test("has at most 500 operands of at most 1000 characters", () => {
    const rules = (operands: readonly MetadataValue[]) => ({
      1: { name: "customer.metadata", property: "p", conditions: { $is: operands } },
    });
    const kindOf = (operands: readonly MetadataValue[]) =>
      parseValidationRule(buildDefinition(rules(operands))).kind;
    expect(kindOf(Array.from({ length: 500 }, (_, n) => n))).toBe("rule");
    expect(kindOf(Array.from({ length: 501 }, (_, n) => n))).toBe("violation");
    expect(kindOf(["x".repeat(1000)])).toBe("rule");
    expect(kindOf(["x".repeat(1001)])).toBe("violation");
  });

  test("compares no list of more than 1000 elements", () => {
    const list = Array.from({ length: 1001 }, () => 1);
    expect([isMet({ $is: [1] }, list), isMet({ $is: [1] }, list.slice(1))]).toEqual([false, true]);
  });
});

function isMet(conditions: object, value: MetadataValue | undefined): boolean {
  const rule = buildRule({ 1: { name: "customer.metadata", property: "p", conditions } });
  const reader = buildReader({
    values: {
      "customer.metadata": value === undefined ? null : metadataOperand({ p: value }, "p"),
    },
  });
  return checkRule(rule, reader, "before_effect").status === "holds";
}

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { buildDefinition, buildReader, buildRule, buildLine } from "../../../test/builders.ts";
import { countValue } from "../../formula/value.ts";
import { checkRule } from "./check-rule.ts";
import { meetsConditions } from "./count-conditions.ts";
import { items } from "./items.test-cases.ts";
import { olderForms, subRules } from "./sub-rules.test-cases.ts";
import { values } from "./values.test-cases.ts";

const allItems = [...items, ...subRules, ...olderForms];
import { RULE_TRAITS, type RuleName, isRuleName, traitsOf } from "../model/rule-names.ts";
import { parseValidationRule } from "../parse/parse-rule.ts";

describe("a rule on one value", () => {
  test.each(values)("%s %j", (name, conditions, met, unmet) => {
    const rule = buildRule({ 1: { name, conditions } });
    const statusOf = (value: typeof met | null) =>
      checkRule(rule, buildReader({ values: { [name]: value } }), "after_effect").status;
    expect([statusOf(met), statusOf(unmet)]).toEqual(["holds", "violated"]);
    const isNegative = "$is_not" in conditions || "$not_in" in conditions;
    expect(statusOf(null)).toBe(isNegative ? "holds" : "violated");
  });
});

describe("a rule on lines", () => {
  test.each(allItems)("%s: %s", (_what, name, sent, { lines, passed, matched }) => {
    const rule = buildRule({ 1: { name, ...sent } });
    const outcome = checkRule(rule, buildReader({ lines }), "before_effect");
    expect(outcome.status).toBe(passed ? "holds" : "violated");
    if (matched === undefined) return;
    const places = matched.map((position) => countValue(BigInt(position)));
    expect(outcome.checked[0]?.value).toEqual({ kind: "list", values: places });
  });
});

test("every name has a test case", () => {
  const tested = new Set([
    ...values.map(([name]) => name),
    ...allItems.flatMap(([, name, { rules }]) => [name, ...namesOf(rules)]),
    // Read like the metadata of a customer, whose operators have cases of their own.
    "customer.metadata",
    "order.metadata",
    "redemption.metadata",
    "custom_event.metadata",
  ]);
  expect(Object.keys(RULE_TRAITS).filter((name) => !tested.has(name as RuleName))).toEqual([]);
});

const namesOf = (rules: object = {}): RuleName[] =>
  Object.values(rules).flatMap(({ name }) => (isRuleName(String(name)) ? [name] : []));

describe("the data that a rule reads", () => {
  const conditions = { $is: [1] };
  const ask = (name: RuleName, given: Parameters<typeof buildReader>[0]) => {
    const { operand } = traitsOf(name);
    const operands = { ids: ["x"], boolean: [true], number: [1], any: ["x"], items: ["x"] };
    const rule = buildRule({
      1: { name, property: "p", conditions: { $is_not: operands[operand] } },
    });
    return checkRule(rule, buildReader(given), "after_effect");
  };
  const named = (needs: string) =>
    Object.keys(RULE_TRAITS)
      .filter(isRuleName)
      .filter((name) => traitsOf(name).needs === needs && traitsOf(name).under === undefined);

  test.each(named("customer").filter((name) => traitsOf(name).operand !== "boolean"))(
    "%s fails without a customer",
    (name) => {
      expect(ask(name, { hasCustomer: false })).toMatchObject({
        status: "violated",
        checked: [{ lacks: "customer" }],
      });
      expect(ask(name, { hasOrder: false }).status).toBe("holds");
    },
  );

  test.each(named("order"))("%s fails without an order", (name) => {
    expect(ask(name, { hasOrder: false })).toMatchObject({
      status: "violated",
      checked: [{ lacks: "order" }],
    });
  });

  test("is not required where another rule has decided", () => {
    const rule = buildRule({
      1: { name: "order.items.count", conditions },
      2: { name: "redemption.count.per_customer", conditions },
      logic: "1 OR 2",
    });
    const reader = buildReader({
      hasCustomer: false,
      values: { "order.items.count": countValue(1n) },
    });
    expect(checkRule(rule, reader, "before_effect").status).toBe("holds");
  });
});

describe("rules that are known after the effect only", () => {
  const rules = (logic: string) =>
    buildRule({
      1: { name: "order.amount", conditions: { $more_than: [100] } },
      2: { name: "order.total_amount", conditions: { $less_than: [100] } },
      logic,
    });
  const reader = (amount: bigint, total: bigint) =>
    buildReader({
      values: { "order.amount": countValue(amount), "order.total_amount": countValue(total) },
    });

  test.each([
    ["1 AND 2", [101n, 99n], ["pending", "holds"]],
    ["1 AND 2", [101n, 100n], ["pending", "violated"]],
    ["2 AND 1", [100n, 99n], ["violated", "violated"]],
    ["1 OR 2", [101n, 100n], ["holds", "holds"]],
    ["2 OR 1", [101n, 100n], ["holds", "holds"]],
    ["1 OR 2", [100n, 99n], ["pending", "holds"]],
    ["1 OR 2", [100n, 100n], ["pending", "violated"]],
  ] as const)("%s with %o is %j", (logic, [amount, total], statuses) => {
    const read = reader(amount, total);
    const phases = ["before_effect", "after_effect"] as const;
    expect(phases.map((phase) => checkRule(rules(logic), read, phase).status)).toEqual(statuses);
  });
});

describe("conditions on a count", () => {
  test.each([
    [{ $less_than_or_equal: [1] }, 1n, true],
    [{ $less_than_or_equal: [1] }, 2n, false],
    [{ $less_than: [2], $more_than: [0] }, 1n, true],
    [{ $is: [2, 4] }, 4n, true],
    [{ $is_not: [2] }, 2n, false],
    [{ $greater_than: [9007199254740990] }, 9007199254740991n, true],
    [{ $unheard_of: [1] }, 1n, false],
    [{}, 1n, false],
  ])("%j on %i are met: %s", (conditions, value, expected) => {
    expect(meetsConditions(value, conditions)).toBe(expected);
  });
});

test("meets conditions on a count exactly when a rule does", () => {
  const operators = ["$is", "$is_not", "$in", "$not_in", "$less_than", "$greater_than_or_equal"];
  const operand = fc.integer({ min: -4, max: 4 }).map((halves) => halves / 2);
  const anyConditions = fc.dictionary(
    fc.constantFrom(...operators),
    fc.array(operand, { minLength: 1, maxLength: 3 }),
    { minKeys: 1 },
  );
  fc.assert(
    fc.property(anyConditions, fc.bigInt(-3n, 3n), (conditions, value) => {
      const parsed = parseValidationRule(
        buildDefinition({ 1: { name: "campaign.redemptions.count", conditions } }),
      );
      if (parsed.kind === "violation") {
        expect(meetsConditions(value, conditions)).toBe(false);
        return;
      }
      const reader = buildReader({ values: { "campaign.redemptions.count": countValue(value) } });
      const isMet = checkRule(parsed.rule, reader, "before_effect").status === "holds";
      expect(meetsConditions(value, conditions)).toBe(isMet);
    }),
  );
});

test("checks an order of 500 lines against 500 items", () => {
  const lines = Array.from({ length: 500 }, (_, n) => buildLine({ productId: `prod_${n}` }));
  const listed = Array.from({ length: 500 }, (_, n) => `prod_${n + 499}`);
  const rule = buildRule({ 1: { name: "order.items.any", conditions: { $is: listed } } });
  expect(checkRule(rule, buildReader({ lines }), "before_effect").status).toBe("holds");
});

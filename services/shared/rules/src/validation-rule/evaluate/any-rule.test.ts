import fc from "fast-check";
import { expect, test } from "vitest";

import { buildDefinition, buildReader } from "../../../test/builders.ts";
import type { ValidationRuleDefinition } from "../model/definition.ts";
import { RULE_TRAITS } from "../model/rule-names.ts";
import { parseValidationRule } from "../parse/parse-rule.ts";
import { checkRule } from "./check-rule.ts";
import { operators } from "./conditions.test-cases.ts";
import { cart, items } from "./items.test-cases.ts";
import { metadataOperand } from "./operands.ts";
import { olderForms, subRules } from "./sub-rules.test-cases.ts";
import { values } from "./values.test-cases.ts";

const anyName = fc.constantFrom(...Object.keys(RULE_TRAITS), "order.unheard_of");
const anyOperator = fc.constantFrom(...operators.map(([operator]) => operator), "$from", "$odd");
const anyOperand = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom("prod_mug", 1, true, "2026-11-21", { id: "sku_large" }, { source_id: "mug" }),
);
const anyConditions = fc.dictionary(anyOperator, fc.array(anyOperand, { maxLength: 3 }), {
  maxKeys: 2,
});
const anyChild = fc.record(
  { name: anyName, property: fc.constantFrom("p", ""), conditions: anyConditions },
  { requiredKeys: ["name", "conditions"] },
);
const anyRule = fc.record(
  {
    name: anyName,
    property: fc.constantFrom("p", "", 5),
    conditions: fc.oneof(
      { weight: 9, arbitrary: anyConditions },
      { weight: 1, arbitrary: anyOperand },
    ),
    rules: fc.dictionary(fc.constantFrom("1", "2", "logic"), fc.oneof(anyChild, fc.string())),
    error: fc.jsonValue({ maxDepth: 1 }),
  },
  { requiredKeys: ["name", "conditions"] },
);
/** Readable rules in random combinations. */
const goodRule = fc.oneof(
  fc.constantFrom(...values.map(([name, conditions]) => ({ name, conditions }))),
  fc.constantFrom(
    ...[...items, ...subRules, ...olderForms].map(([, name, sent]) => ({ name, ...sent })),
  ),
  fc.constantFrom(
    ...operators.map(([operator, operands]) => ({
      name: "customer.metadata",
      property: "p",
      conditions: { [operator]: operands },
    })),
  ),
);
const goodRules = fc.record(
  {
    "1": goodRule,
    "2": goodRule,
    "3": goodRule,
    logic: fc.constantFrom("1 AND 2", "1 OR (2 AND 3)", "3 OR 3", "(1 OR 2) AND 3"),
  },
  { requiredKeys: ["1", "2", "3"] },
);

const anyRules = fc.oneof(
  { weight: 5, arbitrary: goodRules },
  fc.dictionary(fc.constantFrom("1", "2", "3"), anyRule),
  fc.record({ "1": anyRule, "2": anyRule, logic: fc.constantFrom("1 OR 2", "1 AND 2", "3", "(") }),
  fc.dictionary(fc.string(), fc.jsonValue()),
);

const anyBundle = fc.oneof(
  { weight: 9, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: anyRules },
);

/** Parsed from JSON, so values can have any type. */
const definitionOf = (rules: object, bundleRules: object | null): ValidationRuleDefinition =>
  buildDefinition(JSON.parse(JSON.stringify(rules)), {
    bundleRules: bundleRules === null ? null : JSON.parse(JSON.stringify(bundleRules)),
  });

test("either rejects any definition with a message, or evaluates it", () => {
  fc.assert(
    fc.property(anyRules, anyBundle, anyOperand, (rules, bundleRules, value) => {
      const parsed = parseValidationRule(definitionOf(rules, bundleRules));
      if (parsed.kind === "violation") {
        expect(parsed.text).toMatch(/^(?:Property|Rule) /);
        return;
      }
      const operand = metadataOperand({ p: value as never }, "p");
      const reader = { ...buildReader({ lines: cart }), read: () => operand };
      const outcome = checkRule(parsed.rule, reader, "after_effect");
      expect(["holds", "violated"]).toContain(outcome.status);
    }),
    { numRuns: 1000 },
  );
});

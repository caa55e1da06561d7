import type { KnownValue, Metadata } from "../src/formula/value.ts";
import type { ValidationRuleDefinition } from "../src/validation-rule/model/definition.ts";
import type { RuleLine, RuleReader } from "../src/validation-rule/model/rule-reader.ts";
import type { ValidationRule } from "../src/validation-rule/model/rule.ts";
import { parseValidationRule } from "../src/validation-rule/parse/parse-rule.ts";

/** Builders of rules for tests, which name only what they are about. */

export const buildDefinition = (
  rules: object,
  definition: Partial<ValidationRuleDefinition> = {},
): ValidationRuleDefinition => ({
  id: "val_1",
  rules: rules as Metadata,
  bundleRules: null,
  applicableTo: null,
  errorMessage: null,
  ...definition,
});

export function buildRule(
  rules: object,
  definition: Partial<ValidationRuleDefinition> = {},
): ValidationRule {
  const parsed = parseValidationRule(buildDefinition(rules, definition));
  if (parsed.kind === "violation") throw new Error(parsed.text);
  return parsed.rule;
}

export const buildLine = (line: Partial<RuleLine> = {}): RuleLine => ({
  productId: null,
  skuId: null,
  productSourceId: null,
  skuSourceId: null,
  collections: [],
  price: null,
  quantity: 1n,
  amount: 0n,
  metadata: {},
  productMetadata: {},
  ...line,
});

export const buildReader = (
  reader: Partial<Omit<RuleReader, "read">> & {
    readonly values?: Readonly<Record<string, KnownValue | null>>;
  } = {},
): RuleReader => {
  const { values = {}, ...given } = reader;
  return {
    time: { now: Date.parse("2026-11-21T11:00:00Z"), timeZone: "Europe/Warsaw" },
    hasCustomer: true,
    hasOrder: true,
    lines: [],
    read: (name) => values[name] ?? null,
    ...given,
  };
};

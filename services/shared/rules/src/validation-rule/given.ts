import type { KnownValue, Metadata } from "../formula/value.ts";
import type { ValidationRuleDefinition } from "./definition.ts";
import { parseValidationRule } from "./parse.ts";
import type { RuleLine, RuleReader } from "./reader.ts";
import type { ValidationRule } from "./rule.ts";

/** Rules for tests, which name only what they are about. */

export const givenDefinition = (
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

export function givenRule(
  rules: object,
  definition: Partial<ValidationRuleDefinition> = {},
): ValidationRule {
  const parsed = parseValidationRule(givenDefinition(rules, definition));
  if (parsed.kind === "violation") throw new Error(parsed.text);
  return parsed.rule;
}

export const givenRuleLine = (line: Partial<RuleLine> = {}): RuleLine => ({
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

export const givenReader = (
  reader: Partial<Omit<RuleReader, "read">> & {
    readonly values?: Readonly<Record<string, KnownValue | null>>;
  } = {},
): RuleReader => {
  const { values = {}, ...given } = reader;
  return {
    moment: { now: Date.parse("2026-11-21T11:00:00Z"), timeZone: "Europe/Warsaw" },
    hasCustomer: true,
    hasOrder: true,
    lines: [],
    read: (name) => values[name] ?? null,
    ...given,
  };
};

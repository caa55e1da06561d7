import { isList, isObject } from "../../formula/value.ts";
import type { Metadata, MetadataValue } from "../../formula/value.ts";
import type { ValidationRuleDefinition } from "../model/definition.ts";
import { type Logic, allOf, numbersIn, parseLogic } from "../model/logic.ts";
import { type RuleName, ruleNameOf, traitsOf } from "../model/rule-names.ts";
import type { Rule, RuleGroup, ValidationRule } from "../model/rule.ts";
import { parseBundleRules } from "./parse-bundle.ts";
import { parseConditions } from "./parse-conditions.ts";
import { parseScope } from "./parse-scope.ts";
import { Violation, reading } from "./violation.ts";

export type ParsedValidationRule =
  | { readonly kind: "rule"; readonly rule: ValidationRule }
  | { readonly kind: "violation"; readonly text: string };

/** Rules and sub-rules of one object. */
const MAX_RULES = 100;
/** Sub-rules have no sub-rules. */
const MAX_DEPTH = 2;
const MAX_TEXT = 1000;

/**
 * Parses a validation rule, or returns why it cannot be parsed, in the words of the API. Never
 * throws.
 */
export function parseValidationRule(definition: ValidationRuleDefinition): ParsedValidationRule {
  const parsed = reading((): ValidationRule => {
    const { id, rules, bundleRules, applicableTo, errorMessage } = definition;
    const group = parseGroup(rules, "rules", {
      parent: null,
      depth: 1,
      left: { count: MAX_RULES },
    });
    return {
      id,
      ...group,
      bundle: bundleRules === null ? null : parseBundleRules(bundleRules),
      scope: applicableTo === null ? null : parseScope(applicableTo),
      message: errorMessage,
    };
  });
  return parsed.kind === "violation" ? parsed : { kind: "rule", rule: parsed.value };
}

type Nesting = {
  readonly parent: RuleName | null;
  readonly depth: number;
  /** Number of further rules that the limit allows. */
  readonly left: { count: number };
};

function parseGroup(definition: Metadata, path: string, nesting: Nesting): RuleGroup {
  const rules = new Map<number, Rule>();
  for (const [key, value] of Object.entries(definition)) {
    if (key === "logic") continue;
    if (!/^[1-9]\d{0,5}$/.test(key))
      throw new Violation(`Property .${path}.${key} is not a rule number`);
    nesting.left.count -= 1;
    if (nesting.left.count < 0)
      throw new Violation(`Property .rules must NOT have more than ${MAX_RULES} rules`);
    const number = Number(key);
    rules.set(number, parseRule(number, value, `${path}.${key}`, nesting));
  }
  return { logic: parseGroupLogic(definition["logic"] ?? null, rules, path), rules };
}

function parseGroupLogic(
  logic: MetadataValue,
  rules: ReadonlyMap<number, Rule>,
  path: string,
): Logic {
  if (logic === null || (typeof logic === "string" && logic.trim() === "")) {
    return allOf([...rules.keys()].toSorted((a, b) => a - b));
  }
  if (typeof logic !== "string") throw new Violation(`Property .${path}.logic must be string`);
  const parsed = parseLogic(logic);
  if (parsed.kind === "violation") {
    throw new Violation(`Property .${path}.logic is not an expression: ${parsed.text}`);
  }
  const unknown = numbersIn(parsed.logic).find((number) => !rules.has(number));
  if (unknown === undefined) return parsed.logic;
  throw new Violation(`Property .${path}.logic refers to rule ${unknown}, which does not exist`);
}

function parseRule(
  number: number,
  definition: MetadataValue,
  path: string,
  nesting: Nesting,
): Rule {
  if (!isObject(definition)) throw new Violation(`Property .${path} must be object`);
  const name = parseName(definition["name"] ?? null, path, nesting.parent);
  const property = parseProperty(definition["property"] ?? null, name);
  const conditions = definition["conditions"] ?? null;
  if (!isObject(conditions)) throw new Violation(`Rule '${name}' must have 'conditions'`);
  return {
    number,
    name,
    property,
    conditions: parseConditions(name, conditions),
    definition: conditions,
    children: parseChildren(name, definition["rules"] ?? null, path, nesting),
    message: parseMessage(definition["error"] ?? null, name),
  };
}

function parseName(sent: MetadataValue, path: string, parent: RuleName | null): RuleName {
  if (typeof sent !== "string") {
    throw new Violation(`Property .${path} should have required property 'name'`);
  }
  const name = ruleNameOf(sent);
  if (name === undefined) throw new Violation(`Rule '${sent.slice(0, MAX_TEXT)}' is unknown`);
  const { under } = traitsOf(name);
  if (parent === null && under !== undefined) {
    throw new Violation(`Rule '${name}' must be a sub-rule of ${listed(under)}`);
  }
  if (parent !== null && !under?.includes(parent)) {
    throw new Violation(`Rule '${name}' must not be a sub-rule of '${parent}'`);
  }
  return name;
}

const listed = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(" or ");

function parseProperty(property: MetadataValue, name: RuleName): string | null {
  if (traitsOf(name).hasProperty === undefined) return null;
  if (typeof property !== "string" || property === "") {
    throw new Violation(`Rule '${name}' must have a 'property'`);
  }
  if (property.length > MAX_TEXT) throw new Violation(`Rule '${name}': its 'property' is too long`);
  return property;
}

function parseChildren(
  name: RuleName,
  definition: MetadataValue,
  path: string,
  { depth, left }: Nesting,
): RuleGroup | null {
  if (definition === null) return null;
  if (!isObject(definition)) throw new Violation(`Property .${path}.rules must be object`);
  if (Object.keys(definition).every((key) => key === "logic")) return null;
  if (depth === MAX_DEPTH || !takesSubRules(name)) {
    throw new Violation(`Rule '${name}' must not have sub-rules`);
  }
  return parseGroup(definition, `${path}.rules`, { parent: name, depth: depth + 1, left });
}

const takesSubRules = (name: RuleName): boolean =>
  traitsOf(name).operand === "items" || name === "product.metadata";

/** `error.message` of a rule. */
function parseMessage(error: MetadataValue, name: RuleName): string | null {
  if (error === null) return null;
  const message = isObject(error) ? (error["message"] ?? null) : error;
  if (message === null) return null;
  if (typeof message !== "string" || message.length > MAX_TEXT || isList(error)) {
    throw new Violation(
      `Rule '${name}': its 'error.message' must be a text of up to ${MAX_TEXT} characters`,
    );
  }
  return message;
}

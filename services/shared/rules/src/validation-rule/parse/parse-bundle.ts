import type { Metadata, MetadataValue } from "../../formula/value.ts";
import { isList, isObject } from "../../formula/value.ts";
import { type Logic, numbersIn, parseLogic } from "../model/logic.ts";
import type { BundlePart, BundleRules } from "../model/rule.ts";
import { parseItems } from "./parse-items.ts";
import { readDigits } from "./read-digits.ts";
import { Violation } from "./violation.ts";

const MAX_BUNDLES = 100;
const MAX_PARTS = 50;
const MAX_UNITS = 100_000;
const MAX_ITEMS = 500;

/** Parses `bundle_rules` (docs/order-calculation.md#bundles). */
export function parseBundleRules(definition: Metadata): BundleRules {
  const rules = new Map<number, BundlePart>();
  for (const [key, value] of Object.entries(definition)) {
    if (SETTINGS.has(key)) continue;
    if (!/^[1-9]\d{0,5}$/.test(key)) {
      throw new Violation(`Property .bundle_rules.${key} is not a rule number`);
    }
    rules.set(Number(key), parsePart(value, `.bundle_rules.${key}`));
  }
  if (rules.size === 0) throw new Violation("Property .bundle_rules must have a rule");
  if (rules.size > MAX_PARTS) {
    throw new Violation(`Property .bundle_rules must NOT have more than ${MAX_PARTS} rules`);
  }
  const named = namedParts(definition["logic"] ?? null, rules);
  return {
    limit: parseCount(definition["limit"] ?? 1, ".bundle_rules.limit", MAX_BUNDLES),
    multiply: parseFlag(definition["multiply"] ?? true),
    rules: new Map([...rules].filter(([number]) => named.has(number))),
  };
}

const SETTINGS: ReadonlySet<string> = new Set(["limit", "logic", "multiply"]);

/** All parts are required, so only AND is valid between them. */
function namedParts(logic: MetadataValue, rules: ReadonlyMap<number, BundlePart>) {
  if (logic === null || logic === "") return new Set(rules.keys());
  const parsed = typeof logic === "string" ? parseLogic(logic) : null;
  if (parsed?.kind !== "logic" || !isAndOnly(parsed.logic)) {
    throw new Violation("Property .bundle_rules.logic must be numbers of rules joined by AND");
  }
  const named = new Set(numbersIn(parsed.logic));
  for (const number of named) {
    if (rules.has(number)) continue;
    throw new Violation(
      `Property .bundle_rules.logic refers to rule ${number}, which does not exist`,
    );
  }
  return named;
}

const isAndOnly = (logic: Logic): boolean =>
  logic.kind === "rule" || (logic.kind === "all" && logic.parts.every(isAndOnly));

function parsePart(definition: MetadataValue, path: string): BundlePart {
  const items = isObject(definition) ? conditionOf(definition, "$is") : null;
  if (!isObject(definition) || definition["name"] !== "order.items.any" || items === null) {
    throw new Violation(`Property ${path} must be a rule 'order.items.any' with operator '$is'`);
  }
  if (items.length > MAX_ITEMS) {
    throw new Violation(`Property ${path} must NOT have more than ${MAX_ITEMS} items`);
  }
  return {
    items: parseItems(items, null, (text) => new Violation(`Property ${path} ${text}`)),
    quantity: parseQuantity(definition["rules"] ?? null, path),
  };
}

function conditionOf(rule: Metadata, operator: string): readonly MetadataValue[] | null {
  const conditions = rule["conditions"] ?? null;
  if (!isObject(conditions)) return null;
  const operands = conditions[operator] ?? null;
  return isList(operands) && operands.length > 0 ? operands : null;
}

const QUANTITIES: ReadonlySet<MetadataValue> = new Set([
  "order.items.aggregated_quantity",
  "order.items.quantity",
]);

/** At most one sub-rule, with the quantity; the default is one unit. */
function parseQuantity(definition: MetadataValue, path: string): bigint {
  if (definition === null) return 1n;
  const subRules = isObject(definition)
    ? Object.entries(definition).filter(([key]) => key !== "logic")
    : [];
  const [first] = subRules;
  if (first === undefined && isObject(definition)) return 1n;
  const rule = first?.[1] ?? null;
  if (subRules.length !== 1 || !isObject(rule) || !QUANTITIES.has(rule["name"] ?? null)) {
    throw new Violation(
      `Property ${path}.rules must be one rule 'order.items.aggregated_quantity'`,
    );
  }
  const operands = conditionOf(rule, "$is") ?? conditionOf(rule, "$more_than_or_equal");
  return parseCount(operands?.[0] ?? null, `${path}.rules`, MAX_UNITS);
}

function parseCount(sent: MetadataValue, path: string, most: number): bigint {
  const value = readDigits(sent);
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most) {
    return BigInt(value);
  }
  throw new Violation(`Property ${path} must be a whole number from 1 to ${most}`);
}

function parseFlag(value: MetadataValue): boolean {
  if (typeof value === "boolean") return value;
  throw new Violation("Property .bundle_rules.multiply must be boolean");
}

import { type Formula, parseFormula } from "../../formula/parse.ts";
import type {
  ItemScopeDefinition,
  ScopeEntryDefinition,
  UnitBudgetDefinition,
} from "../model/definition.ts";
import type { ApplicationEffect, ItemScope, ScopeEntry, UnitBudget } from "../model/rule.ts";
import { itemObjectOf } from "./parse-items.ts";
import { Violation } from "./violation.ts";

const MAX_ENTRIES = 500;

/** Parses `applicable_to` (docs/validation-rules.md#applicable-items). */
export function parseScope({ included, excluded, includedAll }: ItemScopeDefinition): ItemScope {
  return {
    included: parseEntries(included, "included"),
    excluded: parseEntries(excluded, "excluded"),
    includedAll,
  };
}

function parseEntries(
  entries: readonly ScopeEntryDefinition[],
  list: "included" | "excluded",
): readonly ScopeEntry[] {
  if (entries.length > MAX_ENTRIES) {
    throw new Violation(
      `Property .applicable_to.${list} must NOT have more than ${MAX_ENTRIES} items`,
    );
  }
  return entries.map((entry, index) => parseEntry(entry, `.applicable_to.${list}[${index}]`));
}

function parseEntry(entry: ScopeEntryDefinition, path: string): ScopeEntry {
  const object = itemObjectOf(entry.object);
  if (object === null) {
    throw new Violation(
      `Property ${path}.object must be equal to one of the allowed values: product, sku, products_collection`,
    );
  }
  if (entry.id === null && entry.sourceId === null) {
    throw new Violation(`Property ${path} should have required property 'id'`);
  }
  const { id, sourceId, productId, strict, price, priceFormula } = entry;
  return {
    object,
    id,
    sourceId,
    productId,
    strict,
    effect: parseEffect(entry.effect, path),
    target: parseTarget(entry.target, path),
    skipInitially: atLeast(0n, entry.skipInitially ?? 0n, `${path}.skip_initially`),
    repeat: atLeast(1n, entry.repeat ?? 1n, `${path}.repeat`),
    price: limitOf(price, `${path}.price`),
    priceFormula: formulaOf(priceFormula, `${path}.price_formula`),
    priceFormulaText: priceFormula,
    quantityLimit: limitOf(entry.quantityLimit, `${path}.quantity_limit`),
    aggregatedQuantityLimit: limitOf(
      entry.aggregatedQuantityLimit,
      `${path}.aggregated_quantity_limit`,
    ),
    amountLimit: limitOf(entry.amountLimit, `${path}.amount_limit`),
    aggregatedAmountLimit: limitOf(entry.aggregatedAmountLimit, `${path}.aggregated_amount_limit`),
    budgets: entry.budgets.map((budget) => parseBudget(budget, path)),
  };
}

function parseEffect(effect: string | null, path: string): ApplicationEffect {
  switch (effect) {
    case null:
      return "APPLY_TO_EVERY";
    case "APPLY_TO_EVERY":
    case "APPLY_TO_CHEAPEST":
    case "APPLY_FROM_CHEAPEST":
    case "APPLY_TO_MOST_EXPENSIVE":
    case "APPLY_FROM_MOST_EXPENSIVE":
      return effect;
    default:
      throw new Violation(
        `Property ${path}.effect must be equal to one of the allowed values: APPLY_TO_EVERY, APPLY_TO_CHEAPEST, APPLY_FROM_CHEAPEST, APPLY_TO_MOST_EXPENSIVE, APPLY_FROM_MOST_EXPENSIVE`,
      );
  }
}

function parseTarget(target: string | null, path: string): "ITEM" | "UNIT" {
  if (target === null || target === "ITEM") return "ITEM";
  if (target === "UNIT") return target;
  throw new Violation(
    `Property ${path}.target must be equal to one of the allowed values: ITEM, UNIT`,
  );
}

function atLeast(least: bigint, value: bigint, path: string): bigint {
  if (value < least) throw new Violation(`Property ${path} must be >= ${least}`);
  return value;
}

const limitOf = (value: bigint | null, path: string): bigint | null =>
  value === null ? null : atLeast(0n, value, path);

function formulaOf(text: string | null, path: string): Formula | null {
  if (text === null) return null;
  const parsed = parseFormula(text);
  if (parsed.kind === "formula") return parsed.formula;
  throw new Violation(`Property ${path} is not a formula: ${parsed.text}`);
}

function parseBudget({ name, limit, formula }: UnitBudgetDefinition, path: string): UnitBudget {
  const field = `${path}.${name}_quantity_limit`;
  return {
    name,
    scope: name.endsWith("_promotion_tier") ? "promotion_tier" : "campaign",
    perCustomer: name.includes("_customer_"),
    limit: limitOf(limit, field),
    formula: formulaOf(formula, `${field}_formula`),
  };
}

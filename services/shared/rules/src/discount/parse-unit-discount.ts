import { type Formula, parseFormula } from "../formula/parse.ts";
import type {
  DiscountDefinition,
  DiscountEffect,
  UnitDefinition,
  UnitEffect,
} from "./definition.ts";

/** Adds free units or replaces items (docs/order-calculation.md#free-units). */
export type UnitDiscount = {
  readonly type: "UNIT";
  /** Resolved: the default is ADD_MISSING_ITEMS, or ADD_MANY_ITEMS where `units` are sent. */
  readonly effect: UnitEffect;
  /** In the order of application. */
  readonly grants: readonly UnitGrant[];
};

export type UnitGrantEffect = Exclude<UnitEffect, "ADD_MANY_ITEMS">;

export type UnitGrant = {
  readonly effect: UnitGrantEffect;
  readonly unitOff: bigint;
  /** Calculates the number of units; the static number applies when it cannot. */
  readonly formula: Formula | null;
  /** The id of a product or SKU; null for more units of items in the order. */
  readonly unitType: string | null;
};

type UnitTerms = Pick<DiscountDefinition, "effect" | "unitOff" | "unitOffFormula" | "unitType"> & {
  readonly units: readonly UnitDefinition[];
};

export type ParsedUnits =
  | { readonly kind: "discount"; readonly discount: UnitDiscount }
  | { readonly kind: "violation"; readonly text: string };

export function parseUnits(definition: UnitTerms): ParsedUnits {
  const { effect, units } = definition;
  if (units.length === 0) {
    if (effect === "ADD_MANY_ITEMS") {
      return violation("Property .discount.units is required for effect ADD_MANY_ITEMS");
    }
    const parsed = parseGrant(
      { ...definition, effect: effect ?? "ADD_MISSING_ITEMS" },
      ".discount",
    );
    if (parsed.kind === "violation") return parsed;
    return unitDiscount(parsed.grant.effect, [parsed.grant]);
  }
  if (effect !== null && effect !== "ADD_MANY_ITEMS" && effect !== "REPLACE_ITEMS") {
    return violation(`Property .discount.units does not belong to effect ${effect}`);
  }
  const grants: UnitGrant[] = [];
  for (const [index, unit] of units.entries()) {
    const parsed = parseGrant(unit, `.discount.units[${index}]`);
    if (parsed.kind === "violation") return parsed;
    grants.push(parsed.grant);
  }
  return unitDiscount(effect ?? "ADD_MANY_ITEMS", grants);
}

const unitDiscount = (effect: UnitEffect, grants: readonly UnitGrant[]): ParsedUnits => ({
  kind: "discount",
  discount: { type: "UNIT", effect, grants },
});

type ParsedGrant =
  | { readonly kind: "grant"; readonly grant: UnitGrant }
  | { readonly kind: "violation"; readonly text: string };

function parseGrant(unit: UnitDefinition, path: string): ParsedGrant {
  const { unitOff, unitOffFormula, unitType } = unit;
  const effect = grantEffectOf(unit.effect);
  if (effect === null) {
    return violation(`Effect ${unit.effect} is not available for a discount of type UNIT`);
  }
  if (unitOff === null) {
    return violation(`Property ${path}.unit_off is required for a discount of type UNIT`);
  }
  if (unitOff < 0n) return violation(`Property ${path}.unit_off must not be negative`);
  if (unitType === null && effect !== "ADD_SAME_ITEMS") {
    return violation(`Property ${path}.unit_type is required for effect ${effect}`);
  }
  const parsed = unitOffFormula === null ? null : parseFormula(unitOffFormula);
  if (parsed?.kind === "violation") {
    return violation(`Property ${path}.unit_off_formula is not a formula: ${parsed.text}`);
  }
  return { kind: "grant", grant: { effect, unitOff, formula: parsed?.formula ?? null, unitType } };
}

function grantEffectOf(effect: DiscountEffect): UnitGrantEffect | null {
  switch (effect) {
    case "ADD_NEW_ITEMS":
    case "ADD_MISSING_ITEMS":
    case "ADD_SAME_ITEMS":
    case "REPLACE_ITEMS":
      return effect;
    default:
      return null;
  }
}

const violation = (text: string): { readonly kind: "violation"; readonly text: string } => ({
  kind: "violation",
  text,
});

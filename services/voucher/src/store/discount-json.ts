import type { DiscountDefinition, UnitDefinition } from "@scrip/rules";

/**
 * The JSON of the column `discount`. Filters read its numbers in SQL, so it is not the JSON of the message,
 * which writes them as text. Amounts and units fit JSON numbers exactly: the contract bounds them by 10^13.
 */
export type DiscountJson = {
  type: DiscountDefinition["type"];
  effect: DiscountDefinition["effect"];
  percent_off?: string;
  percent_off_formula?: string;
  amount_off?: number;
  amount_off_formula?: string;
  fixed_amount?: number;
  fixed_amount_formula?: string;
  amount_limit?: number;
  aggregated_amount_limit?: number;
  unit_off?: number;
  unit_off_formula?: string;
  unit_type?: string;
  units?: UnitJson[];
};

type UnitJson = {
  effect: UnitDefinition["effect"];
  unit_off?: number;
  unit_off_formula?: string;
  unit_type?: string;
};

export function discountToJson(discount: DiscountDefinition): DiscountJson {
  return {
    type: discount.type,
    effect: discount.effect,
    ...(discount.percentOff !== null && { percent_off: discount.percentOff }),
    ...(discount.percentOffFormula !== null && {
      percent_off_formula: discount.percentOffFormula,
    }),
    ...(discount.amountOff !== null && { amount_off: Number(discount.amountOff) }),
    ...(discount.amountOffFormula !== null && {
      amount_off_formula: discount.amountOffFormula,
    }),
    ...(discount.fixedAmount !== null && { fixed_amount: Number(discount.fixedAmount) }),
    ...(discount.fixedAmountFormula !== null && {
      fixed_amount_formula: discount.fixedAmountFormula,
    }),
    ...(discount.amountLimit !== null && { amount_limit: Number(discount.amountLimit) }),
    ...(discount.aggregatedAmountLimit !== null && {
      aggregated_amount_limit: Number(discount.aggregatedAmountLimit),
    }),
    ...toUnitTerms(discount),
    ...(discount.units.length > 0 && {
      units: discount.units.map((unit) => ({ effect: unit.effect, ...toUnitTerms(unit) })),
    }),
  };
}

type UnitTerms = Pick<UnitDefinition, "unitOff" | "unitOffFormula" | "unitType">;

const toUnitTerms = ({ unitOff, unitOffFormula, unitType }: UnitTerms) => ({
  ...(unitOff !== null && { unit_off: Number(unitOff) }),
  ...(unitOffFormula !== null && { unit_off_formula: unitOffFormula }),
  ...(unitType !== null && { unit_type: unitType }),
});

export function discountFromJson(json: DiscountJson): DiscountDefinition {
  return {
    type: json.type,
    effect: json.effect,
    percentOff: json.percent_off ?? null,
    percentOffFormula: json.percent_off_formula ?? null,
    amountOff: toBigInt(json.amount_off),
    amountOffFormula: json.amount_off_formula ?? null,
    fixedAmount: toBigInt(json.fixed_amount),
    fixedAmountFormula: json.fixed_amount_formula ?? null,
    amountLimit: toBigInt(json.amount_limit),
    aggregatedAmountLimit: toBigInt(json.aggregated_amount_limit),
    ...fromUnitTerms(json),
    units: (json.units ?? []).map((unit) => ({ effect: unit.effect, ...fromUnitTerms(unit) })),
  };
}

const fromUnitTerms = (json: Omit<UnitJson, "effect">): UnitTerms => ({
  unitOff: toBigInt(json.unit_off),
  unitOffFormula: json.unit_off_formula ?? null,
  unitType: json.unit_type ?? null,
});

const toBigInt = (value: number | undefined): bigint | null =>
  value === undefined ? null : BigInt(value);

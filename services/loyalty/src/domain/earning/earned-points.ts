import { type Decimal, multiplyDecimals, roundHalfUp } from "@scrip/money";
import {
  countValue,
  evaluateFormula,
  type FormulaScope,
  type Metadata,
  metadataValue,
  moneyValue,
  parseFormula,
} from "@scrip/rules";

import type { Calculation, ItemTarget } from "./earning-rule.ts";
import type { EarningItem, EarningSubject } from "./subject.ts";

/** How a loyalty tier changes the points of a rule. */
export type TierMapping =
  | { readonly type: "MULTIPLY"; readonly multiplier: Decimal }
  | { readonly type: "CUSTOM"; readonly points: bigint };

/** The most points that one rule grants for one event. */
const MAX_EARNED = 10_000_000_000_000n;

/**
 * Points of a rule for an event (docs/earning.md#calculation): whole units of the measure, times the points of a unit,
 * mapped by the holder's tier, and rounded half up once at the end. Never below 0.
 */
export function earnedPoints(
  calculation: Calculation,
  subject: EarningSubject,
  mapping: TierMapping | null = null,
): bigint {
  const units = calculation.type === "FIXED" ? 1n : unitsOf(calculation, subject);
  if (units === 0n) return 0n;
  if (mapping?.type === "CUSTOM") return limited(units * mapping.points);
  const base = timesUnits(pointsOfUnit(calculation, subject), units);
  const mapped = mapping === null ? base : base && multiplyDecimals(base, mapping.multiplier);
  if (mapped === undefined) return 0n;
  return limited(roundHalfUp(mapped.unscaled, 10n ** BigInt(mapped.scale)));
}

const limited = (points: bigint): bigint =>
  points <= 0n ? 0n : points > MAX_EARNED ? MAX_EARNED : points;

const whole = (value: bigint): Decimal => ({ unscaled: value, scale: 0 });

const timesUnits = (points: Decimal, units: bigint): Decimal | undefined =>
  multiplyDecimals(points, whole(units));

type Proportional = Calculation & { readonly type: "PROPORTIONAL" };

/** Rounded down once, on the whole measure and not per item. */
function unitsOf(calculation: Proportional, subject: EarningSubject): bigint {
  const { unscaled, scale } = measureOf(calculation, subject);
  return unscaled <= 0n ? 0n : unscaled / (calculation.every * 10n ** BigInt(scale));
}

function measureOf(calculation: Proportional, subject: EarningSubject): Decimal {
  const { measure, property, targets } = calculation;
  const { order } = subject;
  switch (measure) {
    case "ORDER_AMOUNT":
      return whole(order?.amount ?? 0n);
    case "ORDER_TOTAL_AMOUNT":
      return whole(order?.totalAmount ?? 0n);
    case "ORDER_METADATA":
      return numberIn(order?.metadata, property);
    case "CUSTOMER_METADATA":
      return numberIn(subject.customerMetadata, property);
    case "CUSTOM_EVENT_METADATA":
      return numberIn(subject.eventMetadata, property);
    case "ORDER_ITEMS_QUANTITY":
      return sumOfItems(subject, targets, (item) => item.quantity - item.discountQuantity);
    case "ORDER_ITEMS_AMOUNT":
      return sumOfItems(subject, targets, ({ amount }) => amount);
    case "ORDER_ITEMS_SUBTOTAL_AMOUNT":
      return sumOfItems(subject, targets, ({ subtotalAmount }) => subtotalAmount);
    default:
      return measure satisfies never;
  }
}

/** 0 for a missing or non-numeric value. */
function numberIn(metadata: Metadata | null | undefined, property: string | null): Decimal {
  const value = metadata && property !== null ? metadataValue(metadata, property) : null;
  return value?.kind === "number" ? value.value : whole(0n);
}

/** An item counts once, however many targets it matches. */
function sumOfItems(
  { order }: EarningSubject,
  targets: readonly ItemTarget[],
  valueOf: (item: EarningItem) => bigint,
): Decimal {
  const items = (order?.items ?? []).filter((item) => targets.some((each) => fits(item, each)));
  return whole(items.reduce((sum, item) => sum + valueOf(item), 0n));
}

function fits(item: EarningItem, { object, id }: ItemTarget): boolean {
  switch (object) {
    case "product":
      return item.productId === id || item.productSourceId === id;
    case "sku":
      return item.skuId === id || item.skuSourceId === id;
    case "products_collection":
      return item.collections.includes(id);
    default:
      return object satisfies never;
  }
}

/** The static points where the formula has no value. */
function pointsOfUnit({ points, formula }: Calculation, subject: EarningSubject): Decimal {
  if (formula === null) return whole(points);
  const parsed = parseFormula(formula);
  if (parsed.kind === "violation") return whole(points);
  const result = evaluateFormula(parsed.formula, formulaScope(subject));
  return result.kind === "number" ? result.value : whole(points);
}

const formulaScope = ({
  order,
  customerMetadata,
  eventMetadata,
  time,
}: EarningSubject): FormulaScope => ({
  time,
  operand: (name) => {
    if (order === null) return null;
    switch (name) {
      case "ORDER_AMOUNT":
        return moneyValue(order.amount);
      case "ORDER_INITIAL_AMOUNT":
        return moneyValue(order.initialAmount);
      case "ORDER_TOTAL_AMOUNT":
        return moneyValue(order.totalAmount);
      case "ORDER_ITEMS_COUNT":
        return countValue(order.items.reduce((sum, { quantity }) => sum + quantity, 0n));
      default:
        return null;
    }
  },
  metadata: (name) => {
    switch (name) {
      case "ORDER_METADATA":
        return order?.metadata ?? null;
      case "CUSTOMER_METADATA":
        return customerMetadata;
      case "CUSTOM_EVENT_METADATA":
        return eventMetadata;
      default:
        return null;
    }
  },
});

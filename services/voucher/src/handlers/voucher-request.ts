import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { invalidPayload, Refusal } from "@scrip/errors";
import {
  type Discount,
  DiscountEffect,
  DiscountType,
} from "@scrip/proto/scrip/common/v1/discount_pb";
import type { ValidityHours, ValidityTimeframe } from "@scrip/proto/scrip/common/v1/validity_pb";
import { checkValidity, type DiscountDefinition, parseDiscount, type Validity } from "@scrip/rules";

import { instantOf } from "./voucher-message.ts";

/** Parts of requests that creating and updating a voucher share. */

export const toInstant = (timestamp: Timestamp | undefined): number | null =>
  timestamp === undefined ? null : instantOf(timestamp);

export const toTimeframe = (timeframe: ValidityTimeframe | undefined): Validity["timeframe"] =>
  timeframe === undefined ? null : { interval: timeframe.interval, duration: timeframe.duration };

export const toDaysOfWeek = (days: readonly number[]): Validity["daysOfWeek"] =>
  days.length === 0 ? null : [...new Set(days)].toSorted((a, b) => a - b);

export const toHours = (hours: ValidityHours | undefined): Validity["hours"] =>
  hours === undefined
    ? null
    : {
        daily: hours.daily.map(({ startTime, expirationTime, daysOfWeek }) => ({
          startTime,
          expirationTime,
          daysOfWeek,
        })),
      };

/** Refuses time limits that contradict themselves. */
export function requireValidity(validity: Validity): void {
  const violation = checkValidity(validity);
  if (violation === null) return;
  // Dates are the voucher's own business; the recurring limits are malformed as such (§4.3, §4.5).
  if (violation.includes(".expiration_date")) throw invalidVoucher(violation);
  throw invalidPayload(violation);
}

/**
 * Refuses a discount that no decision could apply. Values of other types than its own are dropped:
 * what is stored is never ignored.
 */
export function toDiscountDefinition(discount: Discount): DiscountDefinition {
  const type = nameOf(DiscountType, discount.type);
  if (type === undefined) throw invalidVoucher("Property .discount.type is required");
  const own = <Value>(of: DiscountDefinition["type"], value: Value | undefined): Value | null =>
    type === of ? (value ?? null) : null;
  const definition: DiscountDefinition = {
    type,
    effect: nameOf(DiscountEffect, discount.effect) ?? null,
    percentOff: own("PERCENT", discount.percentOff),
    percentOffFormula: own("PERCENT", discount.percentOffFormula),
    amountOff: own("AMOUNT", discount.amountOff),
    amountOffFormula: own("AMOUNT", discount.amountOffFormula),
    fixedAmount: own("FIXED", discount.fixedAmount),
    fixedAmountFormula: own("FIXED", discount.fixedAmountFormula),
    amountLimit: discount.amountLimit ?? null,
    aggregatedAmountLimit: discount.aggregatedAmountLimit ?? null,
  };
  const parsed = parseDiscount(definition);
  if (parsed.kind === "violation") throw invalidVoucher(parsed.text);
  return definition;
}

type NamesOf<Enum> = Exclude<keyof Enum, "UNSPECIFIED">;

/** The name of an enum value; undefined for an unspecified or unknown one. */
export function nameOf<Enum extends Readonly<Record<string, number>>>(
  values: Enum,
  value: number | undefined,
): NamesOf<Enum> | undefined {
  if (value === undefined || value === 0) return undefined;
  return Object.keys(values).find((name) => values[name] === value) as NamesOf<Enum> | undefined;
}

export const invalidVoucher = (details: string): Refusal =>
  new Refusal("invalid_voucher", { details });

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

/** Refuses a discount that no decision could apply: what is stored is never ignored. */
export function toDiscountDefinition(discount: Discount): DiscountDefinition {
  if (discount.unitOff !== undefined || discount.unitOffFormula !== undefined) {
    throw invalidVoucher("Discounts of type UNIT are not available yet");
  }
  const definition: DiscountDefinition = {
    type: nameOf(DiscountType, discount.type) ?? "UNIT",
    effect: nameOf(DiscountEffect, discount.effect) ?? null,
    percentOff: discount.percentOff ?? null,
    percentOffFormula: discount.percentOffFormula ?? null,
    amountOff: discount.amountOff ?? null,
    amountOffFormula: discount.amountOffFormula ?? null,
    fixedAmount: discount.fixedAmount ?? null,
    fixedAmountFormula: discount.fixedAmountFormula ?? null,
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

import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ValidityHours, ValidityTimeframe } from "@scrip/proto/scrip/common/v1/validity_pb";
import type { Validity } from "@scrip/rules";

import { optionalInstantFromProto, optionalInstantToProto } from "./instant.ts";

/** The time limits under the field names that all messages share. */
export type ValidityProto = {
  readonly startDate?: Timestamp | undefined;
  readonly expirationDate?: Timestamp | undefined;
  readonly validityTimeframe?: ValidityTimeframe | undefined;
  readonly validityDayOfWeek: number[];
  readonly validityHours?: ValidityHours | undefined;
};

export const validityFromProto = (fields: ValidityProto): Validity => ({
  startDate: optionalInstantFromProto(fields.startDate),
  expirationDate: optionalInstantFromProto(fields.expirationDate),
  timeframe: timeframeOf(fields.validityTimeframe),
  daysOfWeek: daysOfWeekOf(fields.validityDayOfWeek),
  hours: hoursOf(fields.validityHours),
});

/** Applies the fields that an update names in its mask. */
export const mergeValidityUpdate = (
  validity: Validity,
  fields: ValidityProto,
  sent: ReadonlySet<string>,
): Validity => ({
  startDate: sent.has("start_date")
    ? optionalInstantFromProto(fields.startDate)
    : validity.startDate,
  expirationDate: sent.has("expiration_date")
    ? optionalInstantFromProto(fields.expirationDate)
    : validity.expirationDate,
  timeframe: sent.has("validity_timeframe")
    ? timeframeOf(fields.validityTimeframe)
    : validity.timeframe,
  daysOfWeek: sent.has("validity_day_of_week")
    ? daysOfWeekOf(fields.validityDayOfWeek)
    : validity.daysOfWeek,
  hours: sent.has("validity_hours") ? hoursOf(fields.validityHours) : validity.hours,
});

export const validityToProto = (validity: Validity) => ({
  startDate: optionalInstantToProto(validity.startDate),
  expirationDate: optionalInstantToProto(validity.expirationDate),
  validityTimeframe: toTimeframe(validity.timeframe),
  validityDayOfWeek: [...(validity.daysOfWeek ?? [])],
  validityHours: toHours(validity.hours),
});

const timeframeOf = (timeframe: ValidityTimeframe | undefined): Validity["timeframe"] =>
  timeframe === undefined ? null : { interval: timeframe.interval, duration: timeframe.duration };

const daysOfWeekOf = (days: readonly number[]): Validity["daysOfWeek"] =>
  days.length === 0 ? null : [...new Set(days)].toSorted((a, b) => a - b);

const hoursOf = (hours: ValidityHours | undefined): Validity["hours"] =>
  hours === undefined
    ? null
    : {
        daily: hours.daily.map(({ startTime, expirationTime, daysOfWeek }) => ({
          startTime,
          expirationTime,
          daysOfWeek,
        })),
      };

function toTimeframe(timeframe: Validity["timeframe"]): ValidityTimeframe | undefined {
  if (timeframe === null) return undefined;
  return { $typeName: "scrip.common.v1.ValidityTimeframe", ...timeframe };
}

function toHours(hours: Validity["hours"]): ValidityHours | undefined {
  if (hours === null) return undefined;
  return {
    $typeName: "scrip.common.v1.ValidityHours",
    daily: hours.daily.map((entry) => ({
      $typeName: "scrip.common.v1.DailyHours",
      startTime: entry.startTime,
      expirationTime: entry.expirationTime,
      daysOfWeek: [...entry.daysOfWeek],
    })),
  };
}

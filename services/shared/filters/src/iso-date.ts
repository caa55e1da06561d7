import { civilFromDays, daysFromCivil } from "@scrip/rules";

import { MS_PER_DAY } from "./condition.ts";

/**
 * A date or date-time in metadata, to microseconds. Postgres and `microsOfText` read it alike: text
 * that the two would read differently, such as a second 60, is rejected.
 */
const ISO_DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,6}))?)?(?:Z|([+-])(0\d|1[0-4]):?([0-5]\d))?)?$/;

/** Contains its time zone. */
const ZONED = String.raw`T.*(Z|[+-]\d{2}:?\d{2})$`;

/** Whether a text of the statement is a date that Postgres can read. */
export const isDateSql = (text: string): string =>
  `${text} ~ '${ISO_DATE.source}' and pg_input_is_valid(${zonedSql(text)}, 'timestamptz')`;

/** Without a time zone it is UTC, not the zone of the connection. */
export const zonedSql = (text: string): string =>
  `(${text} || case when ${text} ~ '${ZONED}' then '' else 'Z' end)`;

/** Microseconds since 1970, or undefined for text that is no date. The default time zone is UTC. */
export function microsOfText(text: string): bigint | undefined {
  const match = ISO_DATE.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = ""] = match;
  const [sign, offsetHours = 0, offsetMinutes = 0] = match.slice(8);
  const date = { year: Number(year), month: Number(month), day: Number(day) };
  const epochDay = daysFromCivil(date);
  const civil = civilFromDays(epochDay);
  if (date.year === 0 || civil.month !== date.month || civil.day !== date.day) return undefined;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === "-" ? -1 : 1);
  const minutes = Number(hour) * 60 + Number(minute) - offset;
  const ms = epochDay * MS_PER_DAY + (minutes * 60 + Number(second)) * 1000;
  return BigInt(ms) * 1000n + BigInt(fraction.padEnd(6, "0"));
}

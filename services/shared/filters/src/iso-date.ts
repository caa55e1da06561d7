import { daysFromCivil } from "@scrip/rules";

import { MS_PER_DAY } from "./condition.ts";

/** A day that exists, from the year 1 on. PostgreSQL before version 16 has no function that tells. */
const DAY = [
  String.raw`(?!0000)[0-9]{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])`,
  String.raw`(?!0000)[0-9]{4}-(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)`,
  String.raw`(?!0000)[0-9]{4}-02-(?:0[1-9]|1[0-9]|2[0-8])`,
  String.raw`(?!0000)(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29`,
].join("|");

/**
 * A date or date-time in metadata, to microseconds. Postgres and `microsOfText` read it alike: text
 * that the two would read differently, such as a second 60, is rejected.
 */
const ISO_DATE = new RegExp(
  String.raw`^(?=${DAY})([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,6}))?)?(?:Z|([+-])(0[0-9]|1[0-4]):?([0-5][0-9]))?)?$`,
  "u",
);

/** Contains its time zone. */
const ZONED = String.raw`T.*(Z|[+-][0-9]{2}:?[0-9]{2})$`;

/** Whether a text of the statement is a date that Postgres can read. */
export const isDateSql = (text: string): string => `${text} ~ '${ISO_DATE.source}'`;

/** Without a time zone it is UTC, not the zone of the connection. */
export const zonedSql = (text: string): string =>
  `(${text} || case when ${text} ~ '${ZONED}' then '' else 'Z' end)`;

/** Microseconds since 1970, or undefined for text that is no date. The default time zone is UTC. */
export function microsOfText(text: string): bigint | undefined {
  const match = ISO_DATE.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = ""] = match;
  const [sign, offsetHours = 0, offsetMinutes = 0] = match.slice(8);
  const epochDay = daysFromCivil({ year: Number(year), month: Number(month), day: Number(day) });
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === "-" ? -1 : 1);
  const minutes = Number(hour) * 60 + Number(minute) - offset;
  const ms = epochDay * MS_PER_DAY + (minutes * 60 + Number(second)) * 1000;
  return BigInt(ms) * 1000n + BigInt(fraction.padEnd(6, "0"));
}

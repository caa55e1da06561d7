/** A date, optionally with a time of any precision and a zone. */
const SHAPE =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?(?:([Zz])|([+\- ])(\d\d):?(\d\d)?)?)?$/;

const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;

/** The nanoseconds behind the milliseconds of a text that `parseTimestamp` accepts: 0 to 999,999. */
export const nanosBehindMs = (text: string): number =>
  Number((SHAPE.exec(text)?.[7] ?? "").slice(3).padEnd(6, "0"));

/**
 * Epoch milliseconds of an ISO 8601 text. Without a zone it is UTC; fractions are truncated to
 * milliseconds. Undefined for other text, invalid dates, and years outside 0001 to 9999. The `+` of
 * a zone may be a space, as in query strings.
 */
export function parseTimestamp(text: string): number | undefined {
  const match = SHAPE.exec(text);
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? 0);
  const [month, day, hour, minute, second] = [part(2), part(3), part(4), part(5), part(6)];
  const fraction = Number((match[7] ?? "").slice(0, 3).padEnd(3, "0"));
  const sign = match[9] === "-" ? -1 : 1;
  const [zoneHours, zoneMinutes] = [part(10), part(11)];
  if (hour > 23 || minute > 59 || second > 59 || zoneHours > 23 || zoneMinutes > 59)
    return undefined;
  const date = new Date(0);
  date.setUTCFullYear(part(1), month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const ms =
    date.getTime() +
    ((hour * 60 + minute) * 60 + second) * 1000 +
    fraction -
    sign * (zoneHours * 60 + zoneMinutes) * 60_000;
  return ms >= FIRST_MS && ms <= LAST_MS ? ms : undefined;
}

/** The parts of an ISO 8601 duration that do not convert into each other. */
export type Duration = { readonly months: number; readonly days: number; readonly ms: number };

/** The bound keeps every computed instant representable. */
const LONGEST_MS = 1000 * 366 * 86_400_000;

const MS_PER_MONTH = 31 * 86_400_000;

const SHAPE =
  /^P(?:(\d{1,9})Y)?(?:(\d{1,9})M)?(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:\.(\d{1,3}))?S)?)?$/;

/**
 * Parses an ISO 8601 duration such as `P1M`, `P2DT12H` or `PT0.5S`. Returns undefined for other
 * text, a zero duration, and one above a thousand years.
 */
export function parseDuration(text: string): Duration | undefined {
  const match = SHAPE.exec(text);
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? 0);
  const fractionMs = Number((match[8] ?? "").padEnd(3, "0"));
  const duration = {
    months: part(1) * 12 + part(2),
    days: part(3) * 7 + part(4),
    ms: part(5) * 3_600_000 + part(6) * 60_000 + part(7) * 1000 + fractionMs,
  };
  const longest = longestMs(duration);
  return longest === 0 || longest > LONGEST_MS ? undefined : duration;
}

const longestMs = (duration: Duration): number =>
  duration.months * MS_PER_MONTH + duration.days * 86_400_000 + duration.ms;

import { formatInstant, parseInstant } from "@scrip/rules";

/**
 * A place in the order of creation, newest first: behind what was made at `at` under an id that ends in
 * `tail`. What was made together has one instant, so ids decide there; without one the place is behind
 * all that was made at that instant or later.
 */
export type Place = { readonly at: number; readonly tail: string | null };

/** A place in a ranking by what was taken off, then by creation. */
export type RankedPlace = Place & { readonly tail: string; readonly amount: bigint };

/** Sorts newest first. */
export const compareNewest = (
  a: { readonly at: number; readonly tail: string },
  b: { readonly at: number; readonly tail: string },
): number => b.at - a.at || (a.tail === b.tail ? 0 : a.tail < b.tail ? 1 : -1);

/** Whether something comes behind a place. */
export const isBehind = (
  one: { readonly at: number; readonly tail: string },
  { at, tail }: Place,
): boolean => one.at < at || (one.at === at && tail !== null && one.tail < tail);

/** `tail` as a number has at most 22 digits, an amount at most 20. */
const TAIL_DIGITS = 22;
const AMOUNT_DIGITS = 20;
const MS_DIGITS = 3;

/**
 * A place as a date-time that a client sends back: further digits behind the milliseconds are those of
 * the id, and then of the amount. Read as time, they keep the order of creation.
 */
export function placeText(place: Place | RankedPlace): string {
  const { at, tail } = place;
  const text = formatInstant(at);
  if (tail === null) return text;
  const amount = "amount" in place ? String(place.amount).padStart(AMOUNT_DIGITS, "0") : "";
  const digits = BigInt(`0x${tail}`).toString().padStart(TAIL_DIGITS, "0");
  return text.replace(/Z$/, `${digits}${amount}Z`);
}

const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,80}))?(Z|[+-]\d{2}:\d{2})$/;

/** The place that a text stands for; null for a text that is no date-time. */
export function parsePlace(text: string): Place | RankedPlace | null {
  const match = DATE_TIME.exec(text);
  if (match === null) return null;
  const [, head = "", fraction = "", zone = ""] = match;
  const ms = fraction.slice(0, MS_DIGITS);
  const at = parseInstant(head + (ms === "" ? "" : `.${ms}`) + zone);
  if (at === undefined) return null;
  const rest = fraction.slice(MS_DIGITS);
  if (rest.length < TAIL_DIGITS) return { at, tail: null };
  const tail = BigInt(rest.slice(0, TAIL_DIGITS)).toString(16).padStart(18, "0");
  if (rest.length < TAIL_DIGITS + AMOUNT_DIGITS) return { at, tail };
  return { at, tail, amount: BigInt(rest.slice(TAIL_DIGITS, TAIL_DIGITS + AMOUNT_DIGITS)) };
}

import { formatInstant, parseInstant } from "@scrip/rules";

/**
 * A position in the order of creation, newest first. Resources that were created in the same
 * millisecond are ordered by the suffix of their ids; a cursor without a suffix lies after
 * everything created at that instant or later. docs/qualification.md#pages
 */
export type PageCursor = { readonly createdAt: number; readonly idSuffix: string | null };

/** A position in a ranking by discount, then in the order of creation. */
export type RankedPageCursor = PageCursor & { readonly idSuffix: string; readonly amount: bigint };

type Position = { readonly createdAt: number; readonly idSuffix: string };

/** Sorts newest first. */
export const compareNewest = (a: Position, b: Position): number =>
  b.createdAt - a.createdAt || (a.idSuffix === b.idSuffix ? 0 : a.idSuffix < b.idSuffix ? 1 : -1);

export const isAfterCursor = (position: Position, { createdAt, idSuffix }: PageCursor): boolean =>
  position.createdAt < createdAt ||
  (position.createdAt === createdAt && idSuffix !== null && position.idSuffix < idSuffix);

/** As a number, an id suffix has at most 22 digits and an amount at most 20. */
const SUFFIX_DIGITS = 22;
const AMOUNT_DIGITS = 20;
const MS_DIGITS = 3;

/**
 * Encodes a cursor as a date-time, which clients send back unchanged: the digits after the
 * milliseconds hold the id suffix and the amount. Cursors that are compared as times keep the order
 * of creation.
 */
export function formatPageCursor(cursor: PageCursor | RankedPageCursor): string {
  const { createdAt, idSuffix } = cursor;
  const text = formatInstant(createdAt);
  if (idSuffix === null) return text;
  const amount = "amount" in cursor ? String(cursor.amount).padStart(AMOUNT_DIGITS, "0") : "";
  const digits = BigInt(`0x${idSuffix}`).toString().padStart(SUFFIX_DIGITS, "0");
  return text.replace(/Z$/, `${digits}${amount}Z`);
}

const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,80}))?(Z|[+-]\d{2}:\d{2})$/;

/** Decodes a cursor; null if the text is not a date-time. */
export function parsePageCursor(text: string): PageCursor | RankedPageCursor | null {
  const match = DATE_TIME.exec(text);
  if (match === null) return null;
  const [, head = "", fraction = "", zone = ""] = match;
  const ms = fraction.slice(0, MS_DIGITS);
  const createdAt = parseInstant(head + (ms === "" ? "" : `.${ms}`) + zone);
  if (createdAt === undefined) return null;
  const rest = fraction.slice(MS_DIGITS);
  if (rest.length < SUFFIX_DIGITS) return { createdAt, idSuffix: null };
  const idSuffix = BigInt(rest.slice(0, SUFFIX_DIGITS)).toString(16).padStart(18, "0");
  if (rest.length < SUFFIX_DIGITS + AMOUNT_DIGITS) return { createdAt, idSuffix };
  const amount = BigInt(rest.slice(SUFFIX_DIGITS, SUFFIX_DIGITS + AMOUNT_DIGITS));
  return { createdAt, idSuffix, amount };
}

/** Which rules must hold, by number (docs/validation-rules.md#logic). */
export type Logic =
  | { readonly kind: "rule"; readonly number: number }
  | { readonly kind: "all"; readonly parts: readonly Logic[] }
  | { readonly kind: "any"; readonly parts: readonly Logic[] };

export type ParsedLogic =
  | { readonly kind: "logic"; readonly logic: Logic }
  | { readonly kind: "violation"; readonly text: string };

/** The default expression: all rules. */
export const allOf = (numbers: readonly number[]): Logic => {
  const [first, ...others] = numbers;
  if (first !== undefined && others.length === 0) return { kind: "rule", number: first };
  return { kind: "all", parts: numbers.map((number) => ({ kind: "rule", number })) };
};

const MAX_LENGTH = 1000;
/** Nested parentheses. */
const MAX_DEPTH = 32;

/**
 * Parses `1 AND (2 OR 3)`, where AND binds tighter, or returns why it cannot be parsed. Never
 * throws.
 */
export function parseLogic(text: string): ParsedLogic {
  if (text.length > MAX_LENGTH) return violation(`it is longer than ${MAX_LENGTH} characters`);
  const tokens = text.match(/\(|\)|[^\s()]+/g) ?? [];
  const cursor: Cursor = { tokens, next: 0 };
  const logic = readAny(cursor, 0);
  if (typeof logic === "string") return violation(logic);
  const left = tokens[cursor.next];
  return left === undefined ? { kind: "logic", logic } : violation(`'${left}' is unexpected`);
}

type Cursor = { readonly tokens: readonly string[]; next: number };

/** A part of the expression, or an error. */
type Read = Logic | string;

const readAny = (cursor: Cursor, depth: number): Read =>
  readParts(cursor, "any", "OR", () => readAll(cursor, depth));

const readAll = (cursor: Cursor, depth: number): Read =>
  readParts(cursor, "all", "AND", () => readOne(cursor, depth));

function readParts(cursor: Cursor, kind: "all" | "any", word: string, readPart: () => Read): Read {
  const parts: Logic[] = [];
  for (;;) {
    const part = readPart();
    if (typeof part === "string") return part;
    parts.push(part);
    if (cursor.tokens[cursor.next]?.toUpperCase() !== word) break;
    cursor.next += 1;
  }
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : { kind, parts };
}

function readOne(cursor: Cursor, depth: number): Read {
  const token = cursor.tokens[cursor.next];
  if (token === undefined) return "it ends too early";
  cursor.next += 1;
  if (token === "(") {
    if (depth === MAX_DEPTH) return `it is nested deeper than ${MAX_DEPTH} levels`;
    const inner = readAny(cursor, depth + 1);
    if (typeof inner === "string") return inner;
    if (cursor.tokens[cursor.next] !== ")") return "a ')' is missing";
    cursor.next += 1;
    return inner;
  }
  return /^[1-9]\d{0,5}$/.test(token)
    ? { kind: "rule", number: Number(token) }
    : `'${token}' is unexpected`;
}

const violation = (text: string): ParsedLogic => ({ kind: "violation", text });

/** The expression as text, which parses to the same expression. */
export function logicText(logic: Logic): string {
  if (logic.kind === "rule") return String(logic.number);
  const parts = logic.parts.map((part) =>
    part.kind === "rule" ? logicText(part) : `(${logicText(part)})`,
  );
  return parts.join(logic.kind === "all" ? " AND " : " OR ");
}

/** The numbers in the expression, each once, from left to right. */
export function numbersIn(logic: Logic): readonly number[] {
  if (logic.kind === "rule") return [logic.number];
  return [...new Set(logic.parts.flatMap(numbersIn))];
}

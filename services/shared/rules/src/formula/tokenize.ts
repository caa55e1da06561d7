import { type Decimal, parseDecimal } from "@scrip/money";

import { FormulaSyntaxError } from "./syntax.ts";

export type Token = { readonly at: number } & (
  | { readonly kind: "number"; readonly value: Decimal }
  | { readonly kind: "text"; readonly value: string }
  /** A name or a keyword, in upper case: formulas ignore case. */
  | { readonly kind: "word"; readonly word: string }
  | { readonly kind: "symbol"; readonly symbol: string }
  | { readonly kind: "end" }
);

/** A lone x is a multiplication sign; every alternative is linear in its input. */
const TOKEN =
  /(\s+)|(\d+(?:\.\d+)?)|([xX×](?![A-Za-z_]))|([A-Za-z_]\w*)|"((?:[^"\\]|\\["\\])*)"|([<>!]=|[-+*/÷%()<>=;])/y;

/** Splits a formula into names, numbers, texts and symbols, and appends an end token. */
export function tokenize(formula: string): Token[] {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  let at = 0;
  while (at < formula.length) {
    pattern.lastIndex = at;
    const match = pattern.exec(formula);
    if (match === null) throw new FormulaSyntaxError(`unexpected text at position ${at + 1}`);
    const token = tokenOf(match, at + 1);
    if (token !== null) tokens.push(token);
    at = pattern.lastIndex;
  }
  tokens.push({ kind: "end", at: formula.length + 1 });
  return tokens;
}

function tokenOf(match: RegExpExecArray, at: number): Token | null {
  const [, space, number, times, word, text, symbol] = match;
  if (space !== undefined) return null;
  if (times !== undefined) return { kind: "symbol", symbol: "*", at };
  if (word !== undefined) return { kind: "word", word: word.toUpperCase(), at };
  if (text !== undefined) return { kind: "text", value: text.replaceAll(/\\(.)/g, "$1"), at };
  if (symbol !== undefined) return { kind: "symbol", symbol: symbol === "÷" ? "/" : symbol, at };
  const value = parseDecimal(number ?? "");
  if (value === undefined) {
    throw new FormulaSyntaxError(`the number at position ${at} has too many digits`);
  }
  return { kind: "number", value, at };
}

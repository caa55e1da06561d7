/** A code configuration that codes can be generated from. */
export type CodeMask = {
  /** Each `#` is a placeholder for a character of the charset. */
  readonly mask: string;
  /** Characters without repetition, so that each is equally likely. */
  readonly alphabet: readonly string[];
  readonly prefix: string;
  readonly postfix: string;
};

export const PLACEHOLDER = "#";

/** Number of different codes. */
export const capacityOf = ({ mask, alphabet }: CodeMask): bigint =>
  BigInt(alphabet.length) ** BigInt(placeholdersOf(mask));

/** Base-2 logarithm of the number of different codes, rounded down to two decimals: how hard a code is to guess. */
export function entropyBitsOf({ mask, alphabet }: CodeMask): number {
  const bits = placeholdersOf(mask) * Math.log2(alphabet.length);
  return Math.floor(bits * 100) / 100;
}

/** Returns the details of `invalid_code_config` when the mask has fewer codes than requested. */
export function capacityViolation(mask: CodeMask, requested: bigint): string | null {
  const capacity = capacityOf(mask);
  return requested > capacity ? exhaustedText(capacity, requested) : null;
}

export const exhaustedText = (capacity: bigint, requested: bigint): string =>
  `Code config allows to generate up to ${capacity} unique codes, requested ${requested}`;

/** Number of characters that are drawn. */
export const placeholdersOf = (mask: string): number => mask.split(PLACEHOLDER).length - 1;

/**
 * A regular expression (also for Postgres) that matches the whole codes of this mask and no others.
 */
export function patternOf({ mask, alphabet, prefix, postfix }: CodeMask): string {
  const drawn = `[${alphabet.map(escapeInClass).join("")}]`;
  const filled = mask
    .split(PLACEHOLDER)
    .map((text) => escape(text))
    .join(drawn);
  return `^${escape(prefix)}${filled}${escape(postfix)}$`;
}

const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

const escapeInClass = (character: string): string => character.replace(/[\\\]^[-]/, "\\$&");

/** Generates a random code of a mask; `randomIndex(n)` returns a number from 0 to n − 1 with equal probability. */
export function generateCode(
  { mask, alphabet, prefix, postfix }: CodeMask,
  randomIndex: (size: number) => number,
): string {
  let filled = "";
  for (const character of mask) {
    filled += character === PLACEHOLDER ? alphabet[randomIndex(alphabet.length)] : character;
  }
  return prefix + filled + postfix;
}

/** Every code of a mask; for masks of a small capacity only. */
export function allCodesOf({ mask, alphabet, prefix, postfix }: CodeMask): readonly string[] {
  let codes = [prefix];
  for (const character of mask) {
    codes =
      character === PLACEHOLDER
        ? codes.flatMap((code) => alphabet.map((drawn) => code + drawn))
        : codes.map((code) => code + character);
  }
  return codes.map((code) => code + postfix);
}

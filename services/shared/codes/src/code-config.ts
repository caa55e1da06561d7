/** How codes are generated (spec/campaigns-loyalty-platform.md §4.2), as it is sent. */
export type CodeConfig = {
  readonly length?: number | undefined;
  readonly charset?: string | undefined;
  readonly pattern?: string | undefined;
  readonly prefix?: string | undefined;
  readonly postfix?: string | undefined;
};

/** Ready to draw codes from. */
export type CodeMask = {
  /** Each `#` stands for a character of the charset. */
  readonly mask: string;
  /** Without repeats, so that every character is as likely as any other. */
  readonly alphabet: readonly string[];
  readonly prefix: string;
  readonly postfix: string;
};

export type ParsedCodeConfig =
  | { readonly kind: "mask"; readonly mask: CodeMask }
  | { readonly kind: "violation"; readonly text: string };

const DEFAULT_CHARSET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

const DEFAULT_LENGTH = 8;
const MAX_LENGTH = 200;
const MAX_CODE_LENGTH = 255;

const PLACEHOLDER = "#";

/** As campaigns keep and answer it: complete, so that no later default changes it. */
export type NormalCodeConfig = {
  /** How many characters are drawn. */
  readonly length: number;
  readonly charset: string;
  readonly pattern: string;
  readonly prefix?: string;
  readonly postfix?: string;
};

/**
 * What is sent over what stands: a length that is sent replaces a pattern that is not, since the
 * pattern would win over it.
 */
export function mergeCodeConfig(standing: CodeConfig, sent: CodeConfig): CodeConfig {
  const { pattern, ...others } = standing;
  const inherited = sent.length === undefined ? { ...others, pattern } : others;
  return { ...inherited, ...sent };
}

/** Of a config that `parseCodeConfig` took: the mask it is drawn by, and nothing that is missing. */
export function normalize(config: CodeConfig, { mask }: CodeMask): NormalCodeConfig {
  return {
    length: placeholdersOf(mask),
    charset: config.charset ?? DEFAULT_CHARSET,
    pattern: mask,
    ...(config.prefix !== undefined && { prefix: config.prefix }),
    ...(config.postfix !== undefined && { postfix: config.postfix }),
  };
}

/** Answers what is wrong with a config in the words of `invalid_code_config`, or its mask. */
export function parseCodeConfig(config: CodeConfig, caseSensitive: boolean): ParsedCodeConfig {
  const { length = DEFAULT_LENGTH, charset = DEFAULT_CHARSET, prefix = "", postfix = "" } = config;
  const inRange = Number.isInteger(length) && length >= 1 && length <= MAX_LENGTH;
  // A normal config may come back: of a pattern without placeholders it says that nothing is drawn.
  if (!inRange && !(config.pattern !== undefined && placeholdersOf(config.pattern) === length)) {
    return violation(`Property .code_config.length must be between 1 and ${MAX_LENGTH}`);
  }
  if (charset === "") return violation("Property .code_config.charset must not be empty");
  if (/[\s#]/u.test(charset)) {
    return violation("Property .code_config.charset must not contain whitespace or '#'");
  }
  const mask = config.pattern ?? PLACEHOLDER.repeat(length);
  if (mask === "") return violation("Property .code_config.pattern must not be empty");
  for (const [name, text] of Object.entries({ charset, pattern: mask, prefix, postfix })) {
    if (!isPrintable(text)) {
      return violation(`Property .code_config.${name} must not contain control characters`);
    }
  }
  if (Array.from(prefix + mask + postfix).length > MAX_CODE_LENGTH) {
    return violation(
      `Codes of this code_config would be longer than ${MAX_CODE_LENGTH} characters`,
    );
  }
  return {
    kind: "mask",
    mask: { mask, alphabet: alphabetOf(charset, caseSensitive), prefix, postfix },
  };
}

/** Where case does not count, `a` and `A` are one character: the first one that the charset names. */
function alphabetOf(charset: string, caseSensitive: boolean): readonly string[] {
  const byKey = new Map<string, string>();
  for (const character of charset) {
    const key = caseSensitive ? character : character.toLowerCase();
    if (!byKey.has(key)) byKey.set(key, character);
  }
  return [...byKey.values()];
}

/** How many different codes there can be. */
export const capacityOf = ({ mask, alphabet }: CodeMask): bigint =>
  BigInt(alphabet.length) ** BigInt(placeholdersOf(mask));

const placeholdersOf = (mask: string): number => mask.split(PLACEHOLDER).length - 1;

/** A regular expression (of Postgres too) that matches whole codes of this mask and no others. */
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

/** Draws a code; `randomIndex(n)` answers a number from 0 to n − 1, each as likely as any other. */
export function drawCode(
  { mask, alphabet, prefix, postfix }: CodeMask,
  randomIndex: (size: number) => number,
): string {
  let filled = "";
  for (const character of mask) {
    filled += character === PLACEHOLDER ? alphabet[randomIndex(alphabet.length)] : character;
  }
  return prefix + filled + postfix;
}

/** Codes may hold anything that can be seen, and blanks. */
export const isPrintable = (code: string): boolean => !/\p{Cc}/u.test(code);

const violation = (text: string): ParsedCodeConfig => ({ kind: "violation", text });

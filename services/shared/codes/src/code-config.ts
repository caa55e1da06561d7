import { type CodeMask, PLACEHOLDER, placeholdersOf } from "./generate-code.ts";

/** How codes are generated, as the request sends it (docs/campaigns.md#codes). */
export type CodeConfig = {
  readonly length?: number | undefined;
  readonly charset?: string | undefined;
  readonly pattern?: string | undefined;
  readonly prefix?: string | undefined;
  readonly postfix?: string | undefined;
};

export type ParsedCodeConfig =
  | { readonly kind: "mask"; readonly mask: CodeMask }
  | { readonly kind: "violation"; readonly text: string };

const DEFAULT_CHARSET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

const DEFAULT_LENGTH = 8;
const MAX_LENGTH = 200;
const MAX_CODE_LENGTH = 255;

/** The form that campaigns store and return: complete, so that no later default changes it. */
export type NormalCodeConfig = {
  /** Number of drawn characters. */
  readonly length: number;
  readonly charset: string;
  readonly pattern: string;
  readonly prefix?: string;
  readonly postfix?: string;
};

/**
 * Merges a request into the stored configuration. A new length replaces a stored pattern, which would otherwise take
 * precedence over it; a new pattern replaces the stored length, which belongs to the old pattern.
 */
export function mergeCodeConfig(standing: CodeConfig, sent: CodeConfig): CodeConfig {
  const { pattern, length, ...others } = standing;
  return {
    ...others,
    ...(sent.length === undefined && pattern !== undefined && { pattern }),
    ...(sent.pattern === undefined && length !== undefined && { length }),
    ...sent,
  };
}

/** The complete form of a configuration that `parseCodeConfig` accepted: all defaults are filled in. */
export function normalize(config: CodeConfig, { mask }: CodeMask): NormalCodeConfig {
  return {
    length: placeholdersOf(mask),
    charset: config.charset ?? DEFAULT_CHARSET,
    pattern: mask,
    ...(config.prefix !== undefined && { prefix: config.prefix }),
    ...(config.postfix !== undefined && { postfix: config.postfix }),
  };
}

/** Returns the mask of a config, or the details of `invalid_code_config`. */
export function parseCodeConfig(config: CodeConfig, caseSensitive: boolean): ParsedCodeConfig {
  const { length = DEFAULT_LENGTH, charset = DEFAULT_CHARSET, prefix = "", postfix = "" } = config;
  const inRange = Number.isInteger(length) && length >= 1 && length <= MAX_LENGTH;
  // A normalized config of a pattern without placeholders has a length of 0.
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

/** Where codes ignore case, `a` and `A` are one character: the first one in the charset. */
function alphabetOf(charset: string, caseSensitive: boolean): readonly string[] {
  const byKey = new Map<string, string>();
  for (const character of charset) {
    const key = caseSensitive ? character : character.toLowerCase();
    if (!byKey.has(key)) byKey.set(key, character);
  }
  return [...byKey.values()];
}

/** Codes may contain printable characters and spaces. */
export const isPrintable = (code: string): boolean => !/\p{Cc}/u.test(code);

const violation = (text: string): ParsedCodeConfig => ({ kind: "violation", text });

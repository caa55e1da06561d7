import type { Reader } from "./reader.ts";

const reader = <Value>(expected: string, read: Reader<Value>["read"]): Reader<Value> => ({
  expected,
  read,
});

function urlOf(...protocols: readonly string[]): Reader<string> {
  const beginnings = protocols.map((protocol) => `${protocol}//`).join(" or ");
  return reader(`a URL that begins with ${beginnings}`, (text) =>
    protocols.includes(URL.parse(text)?.protocol ?? "") ? text : undefined,
  );
}

const oneOf = <const Choice extends string>(...choices: readonly Choice[]): Reader<Choice> =>
  reader(`one of ${choices.join(", ")}`, (text) => choices.find((choice) => choice === text));

const MIN_SECRET_LENGTH = 16;
/** Random text of 16 hexadecimal digits has 10 different ones; "changemechangeme" has 7. */
const MIN_DIFFERENT = 8;

const DURATION = /^(\d{1,9})(ms|s|m|h|d)$/;
const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Readers of variables. `optional` and `withDefault` turn one into a reader of an optional
 * variable.
 */
export const variable = {
  text: reader("text", (text) => text),
  secret: reader(`a secret of at least ${MIN_SECRET_LENGTH} characters`, (text) =>
    text.length >= MIN_SECRET_LENGTH ? text : undefined,
  ),
  /** For a secret that grants access to the whole installation to everyone who can send requests. */
  strongSecret: reader(
    `a secret of at least ${MIN_SECRET_LENGTH} characters, ${MIN_DIFFERENT} of them different, for example from: openssl rand -base64 32`,
    (text) =>
      text.length >= MIN_SECRET_LENGTH && new Set(text).size >= MIN_DIFFERENT ? text : undefined,
  ),
  url: reader("a URL", (text) => (URL.canParse(text) ? text : undefined)),
  databaseUrl: urlOf("postgres:", "postgresql:"),
  redisUrl: urlOf("redis:", "rediss:"),
  /** URLs of a service: those of its replicas, or names that resolve to the addresses of all replicas. */
  urls: reader(
    "a URL that begins with http:// or https://, or several separated by commas",
    (text) => {
      const urls = text.split(",").map((url) => url.trim());
      return urls.every((url) => /^https?:\/\//.test(url) && URL.canParse(url)) ? urls : undefined;
    },
  ),
  boolean: reader("true or false", (text) =>
    text === "true" ? true : text === "false" ? false : undefined,
  ),
  /** Trims the items and drops empty ones. */
  list: reader("a list separated by commas", (text) =>
    text
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== ""),
  ),
  /** Milliseconds. */
  duration: reader("a duration such as 250ms, 10s, 5m, 2h or 7d", (text) => {
    const [, count = "", unit = ""] = DURATION.exec(text) ?? [];
    const factor = UNIT_MS[unit];
    return factor === undefined ? undefined : Number(count) * factor;
  }),
  integer: (min: number, max: number): Reader<number> =>
    reader(`an integer from ${min} to ${max}`, (text) => {
      const value = /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
      return value !== undefined && value >= min && value <= max ? value : undefined;
    }),
  logLevel: oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent"),
  oneOf,
  /** Does not check the shape of the parsed value: the caller must. */
  json: <Value>(expected: string): Reader<Value> =>
    reader(expected, (text) => {
      try {
        return JSON.parse(text) as Value;
      } catch {
        return undefined;
      }
    }),
  withDefault: <Value>(kind: Reader<Value>, value: Value): Reader<Value> => ({
    ...kind,
    fallback: { value },
  }),
  optional: <Value>(kind: Reader<Value>): Reader<Value | undefined> => ({
    ...kind,
    fallback: { value: undefined },
  }),
};

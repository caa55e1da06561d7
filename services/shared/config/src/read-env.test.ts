import { describe, expect, test } from "vitest";

import { ConfigError, readEnv, type Reader, variable } from "./index.ts";

const read = <Value>(reader: Reader<Value>, text?: string): Value =>
  readEnv({ NAME: text }, { value: { name: "NAME", reader } }).value;

test("reads each variable by its kind", () => {
  const env = {
    SCRIP_PORT: "8080",
    SCRIP_SANDBOX: "true",
    DATABASE_URL: "postgres://scrip@localhost/scrip",
    SCRIP_SIGNING_KEY: "0123456789abcdef",
    SCRIP_DOMAINS: "a.example, b.example,",
    SCRIP_TIMEOUT: "5m",
    SCRIP_LOG_LEVEL: "warn",
  };
  expect(
    readEnv(env, {
      port: { name: "SCRIP_PORT", reader: variable.integer(0, 65_535) },
      sandbox: { name: "SCRIP_SANDBOX", reader: variable.boolean },
      url: { name: "DATABASE_URL", reader: variable.url },
      key: { name: "SCRIP_SIGNING_KEY", reader: variable.secret },
      domains: { name: "SCRIP_DOMAINS", reader: variable.list },
      timeoutMs: { name: "SCRIP_TIMEOUT", reader: variable.duration },
      level: { name: "SCRIP_LOG_LEVEL", reader: variable.oneOf("info", "warn") },
    }),
  ).toEqual({
    port: 8080,
    sandbox: true,
    url: "postgres://scrip@localhost/scrip",
    key: "0123456789abcdef",
    domains: ["a.example", "b.example"],
    timeoutMs: 300_000,
    level: "warn",
  });
});

test("reports all invalid variables in one error, by name and never by value", () => {
  const env = { SCRIP_PORT: "eighty", SCRIP_SIGNING_KEY: "hunter2", SCRIP_SANDBOX: "yes" };
  const spec = {
    port: { name: "SCRIP_PORT", reader: variable.integer(0, 65_535) },
    key: { name: "SCRIP_SIGNING_KEY", reader: variable.secret },
    sandbox: { name: "SCRIP_SANDBOX", reader: variable.boolean },
    url: { name: "DATABASE_URL", reader: variable.url },
  };
  const error = new ConfigError(
    [
      "SCRIP_PORT must be an integer from 0 to 65535",
      "SCRIP_SIGNING_KEY must be a secret of at least 16 characters",
      "SCRIP_SANDBOX must be true or false",
      "DATABASE_URL is missing: a URL",
    ].join("\n"),
  );
  expect(() => readEnv(env, spec)).toThrow(error);
});

test("uses the default of an absent or empty variable", () => {
  expect(read(variable.withDefault(variable.integer(1, 9), 5))).toBe(5);
  expect(read(variable.withDefault(variable.integer(1, 9), 5), "")).toBe(5);
  expect(read(variable.withDefault(variable.integer(1, 9), 5), "7")).toBe(7);
  expect(read(variable.optional(variable.url))).toBeUndefined();
  expect(() => read(variable.optional(variable.url), "nowhere")).toThrow(ConfigError);
  expect(() => read(variable.text, "")).toThrow("NAME is missing: text");
});

describe("rejects a value that the kind does not accept", () => {
  test.each<[string, Reader<unknown>, string[]]>([
    [
      "integer",
      variable.integer(-5, 10),
      ["11", "-6", "1.5", "1e1", " 1", "0x1", "one", "9".repeat(30)],
    ],
    ["boolean", variable.boolean, ["TRUE", "1", "yes"]],
    ["url", variable.url, ["localhost", "//x", "a b"]],
    ["databaseUrl", variable.databaseUrl, ["localhost", "mysql://h/x", "http://h"]],
    ["redisUrl", variable.redisUrl, ["localhost:6379", "http://h"]],
    ["logLevel", variable.logLevel, ["verbose", "WARN"]],
    ["secret", variable.secret, ["short"]],
    ["strongSecret", variable.strongSecret, ["a1b2c3d4", "a".repeat(40), "changemechangeme"]],
    ["duration", variable.duration, ["5", "5 s", "-5s", "1.5s", "5w", "s", "5S"]],
    ["oneOf", variable.oneOf("a", "b"), ["A", "c", "a,b"]],
    ["json", variable.json("JSON"), ["{", "undefined"]],
  ])("%s", (_kind, reader, texts) => {
    for (const text of texts) expect(() => read(reader, text)).toThrow(/^NAME must be /);
  });
});

test.each([
  ["0ms", 0],
  ["250ms", 250],
  ["10s", 10_000],
  ["2h", 7_200_000],
  ["7d", 604_800_000],
])("reads %s as %d milliseconds", (text, ms) => {
  expect(read(variable.duration, text)).toBe(ms);
});

test("accepts negative integers within the bounds", () => {
  expect(read(variable.integer(-5, 10), "-5")).toBe(-5);
});

test("parses JSON", () => {
  expect(read(variable.json("a list of keys"), '[{"kid":"a"}]')).toEqual([{ kid: "a" }]);
});

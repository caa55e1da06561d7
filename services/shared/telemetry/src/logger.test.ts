import { spawnSync } from "node:child_process";

import { describe, expect, test } from "vitest";

import { createLogger, type Logger } from "./logger.ts";

/** A logger and the lines it has written so far. */
function recording(level = "debug"): { logger: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line));
  return { logger: createLogger({ service: "till", level, destination: { write } }), lines };
}

const written = (fields: object, message = "something happened"): string => {
  const { logger, lines } = recording();
  logger.info(fields, message);
  return JSON.stringify(lines[0]);
};

test("writes the service, the level, the time and the message", () => {
  const { logger, lines } = recording();
  logger.warn({ ms: 12, request_id: "v-1" }, "a request was slow");
  expect(lines).toEqual([
    expect.objectContaining({
      name: "till",
      level: "warn",
      ms: 12,
      request_id: "v-1",
      msg: "a request was slow",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    }),
  ]);
});

test("drops lines below the level", () => {
  const { logger, lines } = recording("warn");
  logger.debug({}, "no");
  logger.info({}, "no");
  logger.error({}, "yes");
  expect(lines.map(({ msg }) => msg)).toEqual(["yes"]);
});

test("logs plain fields at level info, unless the configured level is higher", () => {
  const { logger, lines } = recording();
  logger.plain({ status: 200, key: undefined, route: "/v1/vouchers/{code}" }, "request");
  expect(lines).toEqual([
    expect.objectContaining({ level: "info", status: 200, route: "/v1/vouchers/{code}" }),
  ]);
  const { logger: quiet, lines: none } = recording("warn");
  quiet.plain({ status: 200 }, "request");
  expect(none).toEqual([]);
});

test.each([
  ["ends by itself", ""],
  ["exits", "process.exit(0);"],
  ["meets an error that nobody catches", "throw new Error('uncaught');"],
])("loses no line when a process %s", (_name, end) => {
  const program = `
    import { createLogger } from ${JSON.stringify(new URL("logger.ts", import.meta.url).href)};
    const logger = createLogger({ service: "till", level: "info" });
    for (let at = 0; at < 1000; at += 1) logger.plain({ at }, "request");
    logger.warn({}, "last");
    ${end}`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(1_001);
  expect(JSON.parse(lines[999] ?? "")).toMatchObject({ at: 999 });
  expect(JSON.parse(lines[1_000] ?? "")).toMatchObject({ msg: "last" });
});

test("adds the fields of a child logger, without secrets", () => {
  const { logger, lines } = recording();
  logger.child({ requestId: "v-7", appToken: "s3cret" }).info({}, "hello");
  expect(lines).toEqual([expect.objectContaining({ requestId: "v-7", appToken: "[redacted]" })]);
});

describe("never written", () => {
  test.each([
    "authorization",
    "Authorization",
    "x-app-token",
    "X-Client-Token",
    "x-management-token",
    "app_token",
    "accessToken",
    "access_token",
    "token",
    "password",
    "client_secret",
    "email",
    "cookie",
    "apiKey",
  ])("the value of %s at any depth", (name) => {
    for (const fields of [
      { [name]: "s3cret" },
      { headers: { [name]: "s3cret" } },
      { calls: [{ request: { headers: { [name]: ["s3cret"] } } }] },
    ]) {
      expect(written(fields)).not.toContain("s3cret");
    }
  });

  test("credentials, e-mail addresses and passwords in text", () => {
    const text =
      "Bearer eyJhbGciOi.J9.x-y_z and basic dXNlcjpwYXNz for jane.doe+x@shop.example.com at postgres://scrip:hunter2@db/scrip";
    const line = written({ text, error: new Error(text) }, text);
    for (const secret of ["eyJhbGciOi", "dXNlcjpwYXNz", "jane.doe", "hunter2"]) {
      expect(line).not.toContain(secret);
    }
  });

  test("more of a voucher code than its beginning", () => {
    const line = written({ code: "SUMMER-2026-XYZ", voucher_code: "GIFT-1", codes: ["ABCDEF"] });
    expect(line).toContain('"code":"SUM…","voucher_code":"GIF…","codes":["ABC…"]');
  });

  test("row values in database errors", () => {
    const error = Object.assign(new Error("duplicate key"), {
      code: "23505",
      constraint: "voucher_project_code",
      detail: "Key (project_id, code)=(proj_1, SUMMER-2026) already exists.",
      parameters: ["SUMMER-2026"],
    });
    const line = written({ error });
    expect(line).not.toContain("SUMMER-2026");
    expect(line).toContain('"code":"23505","constraint":"voucher_project_code"');
  });
});

test("logs errors with stack and causes in any field", () => {
  const failure = new Error("no answer", { cause: new TypeError("broken") });
  for (const fields of [{ error: failure }, { err: failure }, failure]) {
    const { logger, lines } = recording();
    logger.error(fields, "failed");
    const [line] = lines;
    expect(line?.["err"] ?? line?.["error"]).toMatchObject({
      type: "Error",
      message: "no answer",
      stack: expect.stringContaining("logger.test.ts"),
      cause: { type: "TypeError", message: "broken" },
    });
  }
});

test("accepts values that JSON cannot represent, cycles and oversized values", () => {
  const endless: Record<string, unknown> = { amount: 5n, bytes: new Uint8Array(9) };
  endless["self"] = endless;
  expect(written(endless)).toContain('"amount":"5","bytes":"[9 bytes]"');
  expect(written({ text: "x".repeat(1_000_000) }).length).toBeLessThan(10_000);
});

test("scans hostile text in linear time", () => {
  const started = performance.now();
  written({ text: `${"a".repeat(100_000)}@${"b.".repeat(50_000)}` });
  written({ text: "://".repeat(30_000) + "@" });
  written({ text: "Bearer ".repeat(20_000) });
  // Quadratic work would take minutes; a busy machine does not.
  expect(performance.now() - started).toBeLessThan(60_000);
});

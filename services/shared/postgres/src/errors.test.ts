import { DatabaseError } from "pg";
import { describe, expect, test } from "vitest";

import {
  explainConnectionFailure,
  isRetryable,
  isUnavailable,
  isUniqueViolation,
  sqlState,
} from "./errors.ts";

function databaseError(code: string, constraint?: string): DatabaseError {
  const error = new DatabaseError("said by the server", 0, "error");
  error.code = code;
  error.constraint = constraint;
  return error;
}

const networkError = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code });

describe("a retry may succeed after", () => {
  test.each(["40001", "40P01", "08006", "57P01"])("SQLSTATE %s", (code) => {
    expect(isRetryable(databaseError(code))).toBe(true);
  });

  test.each(["23505", "22001", "57014", "55P03", "53300", "25P02"])("not SQLSTATE %s", (code) => {
    expect(isRetryable(databaseError(code))).toBe(false);
  });

  test("a lost connection, but not a bug", () => {
    expect(isRetryable(new Error("Connection terminated unexpectedly"))).toBe(true);
    expect(isRetryable(networkError("ECONNRESET"))).toBe(true);
    expect(isRetryable(new TypeError("x is not a function"))).toBe(false);
    expect(isRetryable("40001")).toBe(false);
  });
});

describe("the database is unavailable after", () => {
  test.each("08006 53300 57P03 57014 55P03 25P03 25006 28P01 3D000 3F000 42P01".split(" "))(
    "SQLSTATE %s",
    (code) => {
      expect(isUnavailable(databaseError(code))).toBe(true);
    },
  );

  test.each(["23505", "42703", "42501", "40001", "40P01", "22P02"])("not SQLSTATE %s", (code) => {
    expect(isUnavailable(databaseError(code))).toBe(false);
  });

  test.each([
    networkError("ECONNREFUSED"),
    new Error("timeout exceeded when trying to connect"),
    new Error("Query read timeout"),
    new Error("Connection terminated due to connection timeout"),
  ])("$message", (error) => {
    expect(isUnavailable(error)).toBe(true);
  });

  test("does not attribute other failures to the database", () => {
    expect(isUnavailable(new Error("The transaction was rolled back"))).toBe(false);
    expect(isUnavailable(networkError("ENOENT"))).toBe(false);
    expect(isUnavailable(undefined)).toBe(false);
  });
});

test.each([
  [databaseError("28P01"), "said by the server"],
  [databaseError("3D000"), "said by the server"],
  [networkError("ECONNREFUSED"), "connect ECONNREFUSED"],
  [
    Object.assign(new AggregateError([networkError("ECONNREFUSED")]), { code: "ECONNREFUSED" }),
    "connect ECONNREFUSED",
  ],
])("explains %s to the person who set the URL", (error, reason) => {
  expect(explainConnectionFailure(error)).toBe(
    `The database cannot be used: ${reason}. Check DATABASE_URL.`,
  );
});

test("does not explain a bug", () => {
  expect(explainConnectionFailure(databaseError("42P01"))).toBeUndefined();
  expect(explainConnectionFailure(new TypeError("x is not a function"))).toBeUndefined();
});

test("recognises a unique constraint by its name", () => {
  const error = databaseError("23505", "voucher_project_code");
  expect(isUniqueViolation(error, "voucher_project_code")).toBe(true);
  expect(isUniqueViolation(error, "voucher_pkey")).toBe(false);
  expect(isUniqueViolation(databaseError("23514", "voucher_pkey"), "voucher_pkey")).toBe(false);
});

test("returns an SQLSTATE of server errors only", () => {
  expect(sqlState(databaseError("40001"))).toBe("40001");
  expect(sqlState(networkError("ECONNRESET"))).toBeUndefined();
});

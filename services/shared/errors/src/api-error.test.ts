import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";

import { ApiError, errorToProto, notFound } from "./api-error.ts";
import type { ErrorKey } from "./catalogue.ts";
import { toConnectError } from "./wire.ts";

test("texts that quote the caller are shortened, without half of a character", () => {
  const long = "x".repeat(1_998) + "😀".repeat(100_000);
  const { details, resourceId } = errorToProto(notFound("product", long), "req_1");
  const { message } = errorToProto(new ApiError("invalid_scope", { message: long }), "req_1");
  for (const text of [details, resourceId, message]) {
    expect(text).toHaveLength(2_000);
    expect(text?.isWellFormed()).toBe(true);
    expect(text).toMatch(/…$/);
  }
});

test("gRPC clients retry only errors after which another attempt may succeed", () => {
  const codeOf = (key: ErrorKey) => toConnectError(new ApiError(key), "req_1").code;
  expect(codeOf("multiple_requests")).toBe(Code.Aborted);
  expect(codeOf("idempotency_in_progress")).toBe(Code.Aborted);
  expect(codeOf("idempotency_key_reused")).toBe(Code.FailedPrecondition);
});

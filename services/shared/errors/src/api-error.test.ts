import { expect, test } from "vitest";

import { ApiError, errorToProto, notFound } from "./api-error.ts";

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

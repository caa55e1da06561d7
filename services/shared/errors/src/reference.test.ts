import { describe, expect, test } from "vitest";

import { ERROR_REFERENCE } from "./reference.ts";

describe.each(Object.entries(ERROR_REFERENCE))("%s", (_key, { cause, remedy }) => {
  test("has one sentence of cause and one of remedy", () => {
    for (const text of [cause, remedy]) expect(text).toMatch(/^[A-Z`][^\n]*[^.]\.$/);
  });
});

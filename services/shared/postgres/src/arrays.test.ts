import { expect, test } from "vitest";

import { byteaArray, int4Array, int8Array, textArray, timestampArray } from "./arrays.ts";

// That Postgres reads them back as they were is proven in test/arrays.test.ts.
test("an array is a header, and each element behind its length", () => {
  expect(int4Array([7, -1]).toString("hex")).toBe(
    "00000001" +
      "00000001" +
      "00000017" +
      "00000002" +
      "00000001" +
      "0000000400000007" +
      "00000004ffffffff",
  );
});

test("null has a length below zero and no bytes", () => {
  for (const array of [textArray, byteaArray, int8Array, timestampArray]) {
    expect(array([null]).subarray(20).toString("hex")).toBe("ffffffff");
  }
});

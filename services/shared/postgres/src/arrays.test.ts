import { expect, test } from "vitest";

import { byteaArray, int4Array, int8Array, textArray, timestampArray } from "./arrays.ts";

// test/arrays.test.ts proves that Postgres reads them back unchanged.
test("writes a header, and each element after its length", () => {
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

test("writes null as a negative length without bytes", () => {
  for (const array of [textArray, byteaArray, int8Array, timestampArray]) {
    expect(array([null]).subarray(20).toString("hex")).toBe("ffffffff");
  }
});

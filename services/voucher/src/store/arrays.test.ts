import { expect, test } from "vitest";

import { byteaArray, plainArray, textArray } from "./arrays.ts";

// That Postgres reads them back as they were is proven by what the tests of redemptions store.
test("texts are quoted, whatever is in them, and null is not the word NULL", () => {
  expect(textArray([])).toBe("{}");
  expect(textArray(["a", null, "NULL", "", 'a"b\\c', "{x,y}"])).toBe(
    String.raw`{"a",NULL,"NULL","","a\"b\\c","{x,y}"}`,
  );
});

test("numbers and booleans stand as they are", () => {
  expect(plainArray([1n, -2n, null, true, 9_007_199_254_740_993n])).toBe(
    "{1,-2,NULL,true,9007199254740993}",
  );
});

test("bytes are written in hex", () => {
  const bytes = new Uint8Array([9, 0, 255, 16]).subarray(1);
  expect(byteaArray([bytes, null, new Uint8Array()])).toBe(String.raw`{"\\x00ff10",NULL,"\\x"}`);
});

import fc from "fast-check";
import { expect, test } from "vitest";

import { createAssetCipher } from "./asset-cipher.ts";

const cipher = createAssetCipher("a secret of tests");

test("decrypts an id to its code; ids are stable and URL-safe", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 255, unit: "grapheme" }), (code) => {
      const id = cipher.seal("proj_1", code);
      expect(cipher.open(id)).toBe(code);
      expect(cipher.seal("proj_1", code)).toBe(id);
      expect(id).toMatch(/^[\w-]+$/);
    }),
  );
});

test.each([
  ["SUMMER-2026", "E82Xvx-B8TFtYL9ehKzi9hTbyxxJfvJ9GyVhDoR37379vA"],
  ["é漢😀", "3xlJSPmaVWJLbmYAIw5dmESa-u7lFYJPkOQdeY4ugDg"],
])("the id of %s never changes, since its links are in emails", (code, id) => {
  expect(createAssetCipher("secret").seal("proj_1", code)).toBe(id);
});

test("creates different ids for equal codes of two projects", () => {
  expect(cipher.seal("proj_1", "A")).not.toBe(cipher.seal("proj_2", "A"));
});

test("rejects an id that was changed or created with another secret", () => {
  const id = cipher.seal("proj_1", "SUMMER");
  for (let index = 0; index < id.length; index += 1) {
    const other = id[index] === "A" ? "B" : "A";
    expect(cipher.open(id.slice(0, index) + other + id.slice(index + 1))).toBeUndefined();
  }
  expect(cipher.open(createAssetCipher("another").seal("proj_1", "SUMMER"))).toBeUndefined();
  for (const text of ["", "AAAA", `${id}=`, `${id} `, id.slice(0, -1)]) {
    expect(cipher.open(text)).toBeUndefined();
  }
});

test("opens ids that an earlier release created, whose links are in emails", () => {
  const earlier = "URXSVaYFcbFd8F0dPZHxD7Wi-cHMCfVhO2LLcAPtL5eSKDGs7sUqj7Bvlg";
  expect(createAssetCipher("s").open(earlier)).toBe("OLD-CODE");
  expect(cipher.open(earlier)).toBeUndefined();
});

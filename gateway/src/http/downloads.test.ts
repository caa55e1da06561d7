import { expect, test } from "vitest";

import { isDownload, parseRange } from "./downloads.ts";

test.each([
  ["bytes=0-99", { first: 0, last: 99 }],
  ["bytes=100-", { first: 100 }],
  ["bytes=-5", { first: -5 }],
  ["bytes=-0", { first: Number.MAX_SAFE_INTEGER }],
  ["", undefined],
  ["bytes=5-4", undefined],
  ["bytes=-", undefined],
  ["bytes=0-1,3-4", undefined],
  ["items=0-1", undefined],
])("reads the range header %s", (header, range) => {
  expect(parseRange(header)).toEqual(range);
});

test("only links with a token download a file", () => {
  expect(isDownload("GET", "/v1/exports/exp_1", "token=x")).toBe(true);
  expect(isDownload("HEAD", "/v1/exports/exp_1/", "a=b&token=")).toBe(true);
  expect(isDownload("GET", "/v1/async-actions/aa_1/report", "token=x")).toBe(true);
  expect(isDownload("GET", "/v1/async-actions/aa_1", "token=x")).toBe(false);
  expect(isDownload("GET", "/v1/exports/exp_1", "")).toBe(false);
  expect(isDownload("GET", "/v1/exports", "token=x")).toBe(false);
  expect(isDownload("DELETE", "/v1/exports/exp_1", "token=x")).toBe(false);
});

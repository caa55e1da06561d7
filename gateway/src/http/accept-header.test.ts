import { expect, test } from "vitest";

import { requireJsonAccepted } from "./accept-header.ts";

test.each([
  [undefined],
  [""],
  ["*/*"],
  ["application/json"],
  ["Application/JSON; charset=utf-8"],
  ["application/*"],
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],
  ["text/html, application/json;q=0.1"],
  ["*/*;q=0, application/json"],
])("accepts %s", (accept) => {
  expect(() => requireJsonAccepted(accept)).not.toThrow();
});

test.each([
  ["text/html"],
  ["application/xml, text/*"],
  ["application/json;q=0"],
  ["*/*, application/json;q=0.0"],
  ["application/json;q=none"],
  ["json"],
])("rejects %s", (accept) => {
  expect(() => requireJsonAccepted(accept)).toThrow("Not acceptable");
});

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
])("whoever accepts %s is answered in JSON", (accept) => {
  expect(() => requireJsonAccepted(accept)).not.toThrow();
});

test.each([
  ["text/html"],
  ["application/xml, text/*"],
  ["application/json;q=0"],
  ["*/*, application/json;q=0.0"],
  ["application/json;q=none"],
  ["json"],
])("whoever accepts %s cannot be answered", (accept) => {
  expect(() => requireJsonAccepted(accept)).toThrow("Not acceptable");
});

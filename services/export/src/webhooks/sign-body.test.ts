import { expect, test } from "vitest";

import { signBody } from "./sign-body.ts";

// Vectors of docs/webhooks.md#signature.
test.each([
  [`{"a":1}`, "a17d2ac229d1ebbb5f10e839c7985c4818e5986eab297f7e5979196d4d7d3ed2"],
  [`{"a\\"b":1}`, "f7cf97814a03146abedb9793f56e1dec34f618f82d10395310d053f749483ffb"],
])("signs %s", (body, signature) => {
  expect(signBody("secretKey", body)).toBe(signature);
});

import { expect, test } from "vitest";

import { joinsOnce } from "./join-once.ts";

const campaign = { type: "DISCOUNT_COUPONS" as const, joinOnce: false };

test.each([
  [undefined, null, false],
  [true, null, true],
  [undefined, campaign, false],
  [undefined, { ...campaign, joinOnce: true }, true],
  [false, { ...campaign, joinOnce: true }, false],
  [true, campaign, true],
  [false, { ...campaign, type: "LOYALTY_PROGRAM" as const }, true],
])("join_once %s of %j is %s", (sent, of, once) => {
  expect(joinsOnce(sent, of)).toBe(once);
});

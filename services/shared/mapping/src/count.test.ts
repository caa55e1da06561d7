import type { Count } from "@scrip/rules";
import { expect, test } from "vitest";

import { countFromProto, countToProto } from "./count.ts";

const WHOLE: Count = {
  scope: { kind: "campaign", id: "camp_1" },
  measure: "REDEMPTIONS",
  customerId: null,
  channelId: null,
  since: null,
  productId: null,
};

test.each<Count>([
  WHOLE,
  { ...WHOLE, scope: { kind: "voucher", id: "v_1" }, measure: "GIFT_CREDITS", since: 0 },
  { ...WHOLE, scope: { kind: "promotion_tier", id: "promo_1" }, measure: "ORDERS_AMOUNT" },
  { ...WHOLE, measure: "DISCOUNTED_AMOUNT", customerId: "cust_1", channelId: "app_1" },
  { ...WHOLE, measure: "UNITS", productId: "prod_1", since: 1_700_000_000_123 },
])("maps a count to a message and back: %j", (count) => {
  expect(countFromProto(countToProto(count))).toEqual(count);
});

test("rejects a count without a scope", () => {
  const message = { ...countToProto(WHOLE), scope: { case: undefined } };
  expect(() => countFromProto(message)).toThrow("a count has no scope");
});

import { expect, test } from "vitest";

import {
  EMPTY_INPUT,
  buildCustomer,
  buildVoucher,
  voucherRedeemable,
} from "../../../test/builders.ts";
import { decide } from "../decide.ts";
import type { Redeemable } from "../input/redeemable.ts";
import { DEFAULT_STACKING_RULES } from "../stacking/stacking-rules.ts";

const holder = buildCustomer({ id: "cust_1" });

/** A loyalty card redeemed by its holder for a material reward. */
function cardFor(code: string, rewardId: string, stockLeft: bigint | null): Redeemable {
  const voucher = buildVoucher({
    id: `v_${code}`,
    code,
    holderId: "cust_1",
    value: { type: "LOYALTY_CARD", balance: 100n, lockedPoints: 0n },
  });
  const assigned = {
    assignmentId: `rewa_${code}`,
    name: null,
    type: "MATERIAL" as const,
    price: 10n,
    coin: null,
    stockLeft,
  };
  return voucherRedeemable(voucher, {
    reward: { id: rewardId, points: null, assignment: assigned },
  });
}

test.each([
  ["one for each", [2n, 2n], ["mug", "mug"], [true, true]],
  ["one for the first alone", [1n, 1n], ["mug", "mug"], [true, false]],
  ["one of each", [1n, 1n], ["mug", "cup"], [true, true]],
  ["any number", [null, null], ["mug", "mug"], [true, true]],
] as const)(
  "cards of one request share the reward's stock: %s",
  (_what, left, rewards, expected) => {
    const decision = decide({
      ...EMPTY_INPUT,
      redeemables: rewards.map((reward, at) => cardFor(`c${at}`, reward, left[at] ?? null)),
      order: null,
      customer: holder,
      metadata: {},
      time: { now: Date.parse("2026-11-21T12:00:00Z"), timeZone: "UTC" },
      stacking: { ...DEFAULT_STACKING_RULES, redeemablesApplicationMode: "PARTIAL" },
    });
    if (decision.kind !== "decided") throw new Error(decision.rejection.key);
    expect(decision.redeemables.map(({ status }) => status === "APPLICABLE")).toEqual(expected);
    for (const evaluated of decision.redeemables) {
      if (evaluated.status === "INAPPLICABLE")
        expect(evaluated.rejection.key).toBe("reward_out_of_stock");
    }
  },
);

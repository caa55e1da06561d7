import { describe, expect, test } from "vitest";

import {
  amountOff,
  buildDiscountVoucher,
  buildGiftCard,
  buildOrder,
  evaluateRedeemables,
  voucherRedeemable,
  buildRequest,
} from "../../../test/builders.ts";
import { rejectionForCode } from "../rejections/rejection.ts";
import { DEFAULT_STACKING_RULES } from "../stacking/stacking-rules.ts";
import {
  refreshed,
  type CommitConflict,
  type CommitConflicts,
  addConflicts,
  NO_CONFLICTS,
  withConflicts,
} from "./commit-conflicts.ts";

const card = { ...buildGiftCard({ balance: 500n, lockedCredits: 20n }), code: "G" };
const request = buildRequest({
  redeemables: [
    voucherRedeemable(buildDiscountVoucher("A", amountOff(100n))),
    voucherRedeemable(card),
  ],
  order: buildOrder({ amount: 1000n }),
  stacking: { ...DEFAULT_STACKING_RULES, redeemablesApplicationMode: "PARTIAL" },
});

const used: CommitConflict = {
  redeemableKey: "voucher A",
  rejection: rejectionForCode("quantity_exceeded", "A"),
  remainingCredits: null,
};
const short = (remainingCredits: bigint): CommitConflict => ({
  redeemableKey: "voucher G",
  rejection: rejectionForCode("gift_amount_exceeded", "G"),
  remainingCredits,
});

const lossesOf = (conflicts: readonly (readonly CommitConflict[])[]): CommitConflicts =>
  conflicts.reduce((all, attempt) => addConflicts(all, attempt), NO_CONFLICTS);

/**
 * The discount of the voucher and the credits of the gift card, or the keys of their rejections.
 */
const outcomesAfter = (conflicts: CommitConflicts) =>
  evaluateRedeemables(withConflicts(request, conflicts)).map((evaluated) => {
    if (evaluated.status !== "APPLICABLE") {
      return evaluated.status === "SKIPPED" ? evaluated.skip.key : evaluated.rejection.key;
    }
    const { benefit, order } = evaluated;
    return benefit.kind === "gift" ? benefit.credits : order?.appliedDiscountAmount;
  });

describe("after conflicts", () => {
  test.each([
    ["none", [], [100n, 480n]],
    ["of a voucher that is exhausted", [[used]], ["quantity_exceeded", 480n]],
    ["of a gift card with remaining credits", [[short(70n)]], [100n, 70n]],
    ["of a gift card without remaining credits", [[short(0n)]], [100n, 0n]],
    ["uses the remaining credits of the last conflict", [[short(70n)], [short(30n)]], [100n, 30n]],
    [
      "gives up after two attempts with a reduced gift balance",
      [[short(70n)], [short(30n)], [short(20n)]],
      [100n, "gift_amount_exceeded"],
    ],
    ["of several redeemables", [[used, short(70n)]], ["quantity_exceeded", 70n]],
  ] as const)("%s", (_name, conflicts, outcomes) => {
    expect(outcomesAfter(lossesOf(conflicts))).toEqual(outcomes);
  });

  test("uses loaded balances after a refresh, but keeps exhausted redeemables rejected", () => {
    expect(outcomesAfter(refreshed(lossesOf([[used, short(70n)]])))).toEqual([
      "quantity_exceeded",
      480n,
    ]);
    const outcome = lossesOf([[short(70n)], [short(30n)], [short(20n)]]);
    expect(outcomesAfter(refreshed(outcome))).toEqual([100n, "gift_amount_exceeded"]);
  });
});

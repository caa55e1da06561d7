import { describe, expect, test } from "vitest";

import {
  amountOff,
  givenDiscountVoucher,
  givenGiftCard,
  givenOrder,
  judgedIn,
  redeemableOf,
  requestOf,
} from "../../../test/builders.ts";
import { refusedForCode } from "../rejections/rejection.ts";
import { DEFAULT_STACKING_RULES } from "../stacking/stacking-rules.ts";
import {
  foundAgain,
  type Loss,
  type Losses,
  lossesAfter,
  NOTHING_LOST,
  withoutLosses,
} from "./commit-conflicts.ts";

const card = { ...givenGiftCard({ balance: 500n, lockedCredits: 20n }), code: "G" };
const request = requestOf({
  redeemables: [redeemableOf(givenDiscountVoucher("A", amountOff(100n))), redeemableOf(card)],
  order: givenOrder({ amount: 1000n }),
  stacking: { ...DEFAULT_STACKING_RULES, redeemablesApplicationMode: "PARTIAL" },
});

const used: Loss = {
  name: "voucher A",
  refusal: refusedForCode("quantity_exceeded", "A"),
  left: null,
};
const short = (left: bigint): Loss => ({
  name: "voucher G",
  refusal: refusedForCode("gift_amount_exceeded", "G"),
  left,
});

const lossesOf = (losses: readonly (readonly Loss[])[]): Losses =>
  losses.reduce((all, lost) => lossesAfter(all, lost), NOTHING_LOST);

/** Of the voucher, the discount; of the gift card, the credits. Else why there is nothing. */
const outcomesAfter = (losses: Losses) =>
  judgedIn(withoutLosses(request, losses)).map((judged) => {
    if (judged.status !== "APPLICABLE") {
      return judged.status === "SKIPPED" ? judged.skip.key : judged.refusal.key;
    }
    const { benefit, order } = judged;
    return benefit.kind === "gift" ? benefit.credits : order?.appliedDiscountAmount;
  });

describe("after what was lost", () => {
  test.each([
    ["nothing was lost", [], [100n, 480n]],
    ["a use that is gone is gone", [[used]], ["quantity_exceeded", 480n]],
    ["of a gift card something may be left", [[short(70n)]], [100n, 70n]],
    ["or nothing, as who comes later finds it", [[short(0n)]], [100n, 0n]],
    ["what is left is what was told last", [[short(70n)], [short(30n)]], [100n, 30n]],
    [
      "and tried for twice only",
      [[short(70n)], [short(30n)], [short(20n)]],
      [100n, "gift_amount_exceeded"],
    ],
    ["each for itself", [[used, short(70n)]], ["quantity_exceeded", 70n]],
  ] as const)("%s", (_name, losses, outcomes) => {
    expect(outcomesAfter(lossesOf(losses))).toEqual(outcomes);
  });

  test("what was looked up again counts, but what is gone stays gone", () => {
    expect(outcomesAfter(foundAgain(lossesOf([[used, short(70n)]])))).toEqual([
      "quantity_exceeded",
      480n,
    ]);
    const spent = lossesOf([[short(70n)], [short(30n)], [short(20n)]]);
    expect(outcomesAfter(foundAgain(spent))).toEqual([100n, "gift_amount_exceeded"]);
  });
});

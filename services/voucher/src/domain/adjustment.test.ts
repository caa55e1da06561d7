import fc from "fast-check";
import { expect, test } from "vitest";

import { decideAdjustment, MAX_GIFT_AMOUNT } from "./adjustment.ts";
import type { VoucherUsage } from "./usage.ts";

const usageOf = (overrides: Partial<VoucherUsage> = {}): VoucherUsage => ({
  projectId: "proj_1",
  voucherId: "v_1",
  definitionVersion: 1n,
  deleted: false,
  quantity: null,
  redeemedQuantity: 0n,
  amount: null,
  balance: null,
  redeemedAmount: 0n,
  reserved: false,
  version: 3n,
  ledgerVersion: 2n,
  ...overrides,
});

test("an adjustment changes amount and balance alike, or is rejected because of credits that do not exist", () => {
  const credits = fc.bigInt({ min: 0n, max: 1_000n });
  fc.assert(
    fc.property(
      fc.record({ balance: credits, redeemedAmount: credits, lockedCredits: credits }),
      fc.bigInt({ min: -2_000n, max: 2_000n }).filter((change) => change !== 0n),
      ({ balance, redeemedAmount, lockedCredits }, change) => {
        const amount = balance + redeemedAmount;
        const usage = usageOf({ amount, balance, redeemedAmount });
        const decide = () => decideAdjustment(usage, { change, lockedCredits });
        if (change < 0n && balance + change < lockedCredits) {
          expect(decide).toThrow(expect.objectContaining({ key: "gift_amount_exceeded" }));
          return;
        }
        expect(decide()).toEqual({
          ...usage,
          amount: amount + change,
          balance: balance + change,
          version: 4n,
          ledgerVersion: 3n,
        });
      },
    ),
  );
});

test.each([
  ["a voucher without credits", usageOf(), 1n, "invalid_add_balance_params"],
  ["zero", usageOf({ amount: 5n, balance: 5n }), 0n, "invalid_amount"],
  [
    "more than a gift voucher can hold",
    usageOf({ amount: MAX_GIFT_AMOUNT, balance: 0n, redeemedAmount: MAX_GIFT_AMOUNT }),
    1n,
    "invalid_amount",
  ],
] as const)("rejects %s", (_name, usage, change, key) => {
  expect(() => decideAdjustment(usage, { change, lockedCredits: 0n })).toThrow(
    expect.objectContaining({ key }),
  );
});

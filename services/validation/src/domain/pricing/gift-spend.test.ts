import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  buildGiftCard,
  buildLine,
  buildLines,
  buildOrder,
  wholeLines,
} from "../../../test/builders.ts";
import type { OrderSnapshot } from "../input/order.ts";
import { orderFigures } from "../order/order-figures.ts";
import { initialOrderState } from "../order/order-state.ts";
import type { Rejection } from "../rejections/rejection.ts";
import { type GiftOutcome, type GiftValue, spendGift } from "./gift-spend.ts";

type Payment<Outcome> = readonly [
  what: string,
  gift: Partial<GiftValue>,
  credits: bigint | null,
  order: Partial<OrderSnapshot> | null,
  outcome: Outcome,
];

describe("spendGift", () => {
  const payments: Payment<bigint>[] = [
    ["all that is left to pay", { balance: 5000n }, null, { amount: 3000n }, 3000n],
    ["its balance", { balance: 2000n }, null, { amount: 3000n }, 2000n],
    ["the requested credits", { balance: 5000n }, 1200n, { amount: 3000n }, 1200n],
    ["no more credits than the order needs", { balance: 5000n }, 3000n, { amount: 1000n }, 1000n],
    ["exactly its balance", { balance: 5000n }, 5000n, { amount: 9000n }, 5000n],
    [
      "credits that other sessions have not locked",
      { balance: 5000n, lockedCredits: 4000n },
      null,
      { amount: 3000n },
      1000n,
    ],
    [
      "nothing if other sessions have locked all credits",
      { balance: 5000n, lockedCredits: 5000n },
      null,
      { amount: 3000n },
      0n,
    ],
    ["nothing of an empty card", { balance: 0n }, null, { amount: 3000n }, 0n],
    ["nothing for an order without costs", { balance: 500n }, null, { amount: 0n }, 0n],
    ["nothing if zero credits are requested", { balance: 500n }, 0n, { amount: 100n }, 0n],
    [
      "the amount left to pay after earlier discounts",
      { balance: 5000n },
      null,
      { amount: 3000n, discountAmount: 2900n },
      100n,
    ],
  ];
  test.each(payments)("pays %s", (_what, ...row) => {
    const [gift, credits, order, spentCredits] = row;
    const { outcome, figures } = spend(gift, credits, order);
    expect(outcome).toMatchObject({
      kind: "spent",
      benefit: {
        kind: "gift",
        effect: "APPLY_TO_ORDER",
        balance: gift.balance,
        credits: spentCredits,
      },
    });
    expect(figures.appliedDiscountAmount).toBe(spentCredits);
  });

  test.each([
    ["a request without an order", null],
    ["an order without an amount", { lines: [buildLine()] }],
  ])("uses the credits in full for %s", (_what, order) => {
    const { outcome, figures } = spend({ balance: 5000n }, 1200n, order);
    expect(outcome).toMatchObject({ kind: "spent", benefit: { credits: 1200n } });
    expect(figures).toMatchObject({ amount: 0n, totalAmount: 0n, totalDiscountAmount: 0n });
  });

  const exceeded: Rejection = { key: "gift_amount_exceeded", details: "GIFT" };
  const noLines: Rejection = {
    key: "missing_order_items_amount",
    details:
      "At least one applicable order item with amount is required to redeem this GIFT_VOUCHER",
  };
  const rejections: Payment<Rejection>[] = [
    ["more credits than its balance", { balance: 5000n }, 5001n, { amount: 9000n }, exceeded],
    [
      "more credits than its balance, though the order needs fewer",
      { balance: 5000n },
      5001n,
      { amount: 10n },
      exceeded,
    ],
    [
      "more credits than other sessions have left unlocked",
      { balance: 5000n, lockedCredits: 4000n },
      1001n,
      { amount: 9000n },
      exceeded,
    ],
    ["more credits than its balance, without an order", { balance: 5000n }, 5001n, null, exceeded],
    [
      "neither an order nor credits",
      { balance: 5000n },
      null,
      null,
      {
        key: "missing_amount",
        details: "An order amount or gift.credits is required when redeeming a GIFT_VOUCHER",
      },
    ],
    [
      "negative credits",
      { balance: 5000n },
      -1n,
      { amount: 9000n },
      { key: "invalid_gift", details: "Property .gift.credits must not be negative" },
    ],
    [
      "a gift card for items without matching items",
      { balance: 5000n, effect: "APPLY_TO_ITEMS" },
      null,
      { amount: 9000n },
      noLines,
    ],
    [
      "a gift card for items without amounts",
      { balance: 5000n, effect: "APPLY_TO_ITEMS" },
      100n,
      { amount: 9000n, lines: [buildLine()] },
      noLines,
    ],
  ];
  test.each(rejections)("rejects %s", (_what, ...row) => {
    const [gift, credits, order, rejection] = row;
    const { outcome } = spend(gift, credits, order);
    expect(outcome).toEqual({ kind: "rejected", rejection });
  });

  test.each([
    ["in turn until its credits are used up", { balance: 2500n }, null, [2000n, 500n, 0n]],
    ["up to the requested credits", { balance: 9000n }, 2100n, [2000n, 100n, 0n]],
    ["completely if its balance is sufficient", { balance: 9000n }, null, [2000n, 1500n, 300n]],
  ] as const)("pays for lines %s", (_what, gift, credits, expected) => {
    const order = { lines: buildLines([2n, 1000n], [1n, 1500n], [1n, 300n]) };
    const { outcome, figures } = spend({ ...gift, effect: "APPLY_TO_ITEMS" }, credits, order);
    const spentCredits = expected.reduce<bigint>((sum, amount) => sum + amount, 0n);
    expect(outcome).toMatchObject({ benefit: { effect: "APPLY_TO_ITEMS", credits: spentCredits } });
    expect(figures.lines.map((line) => line.discountAmount)).toEqual(expected);
    expect(figures.discountAmount).toBe(0n);
  });

  test("never spends more than is available or left to pay, and discounts what it spends", () => {
    const cents = fc.bigInt(0n, 10_000n);
    fc.assert(
      fc.property(
        fc.record({
          balance: cents,
          lockedCredits: cents,
          effect: fc.constantFrom("APPLY_TO_ORDER" as const, "APPLY_TO_ITEMS" as const),
        }),
        fc.option(fc.bigInt(-5n, 12_000n)),
        fc.array(fc.tuple(fc.bigInt(1n, 5n), cents), { maxLength: 5 }),
        (gift, credits, lines) => {
          const { outcome, figures } = spend(gift, credits, { lines: buildLines(...lines) });
          if (outcome.kind === "rejected") return;
          const spentCredits = outcome.benefit.credits;
          const available = gift.balance - gift.lockedCredits;
          expect(spentCredits <= (available > 0n ? available : 0n)).toBe(true);
          expect(credits === null || spentCredits <= credits).toBe(true);
          expect(figures.totalAmount >= 0n).toBe(true);
          const paid = lines.length === 0 ? spentCredits : figures.totalAppliedDiscountAmount;
          expect(paid).toBe(spentCredits);
        },
      ),
    );
  });
});

function spend(
  gift: Partial<GiftValue>,
  credits: bigint | null,
  order: Partial<OrderSnapshot> | null,
) {
  const value: GiftValue = {
    type: "GIFT_VOUCHER",
    balance: 0n,
    lockedCredits: 0n,
    effect: null,
    ...gift,
  };
  const voucher = { ...buildGiftCard(gift), code: "GIFT" };
  const start = initialOrderState(order === null ? null : buildOrder(order));
  const selectedLines = wholeLines(start);
  const outcome: GiftOutcome = spendGift({ voucher, value, credits, selectedLines }, start);
  const end = outcome.kind === "spent" ? outcome.state : start;
  return { outcome, figures: orderFigures(start, end) };
}

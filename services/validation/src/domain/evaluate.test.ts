import { describe, expect, test } from "vitest";

import {
  EMPTY_INPUT,
  buildCampaign,
  buildGiftCard,
  buildOrder,
  buildVoucher,
  voucherRedeemable,
  unlimited,
} from "../../test/builders.ts";
import type { Evaluation } from "./decision/evaluation.ts";
import { evaluate } from "./evaluate.ts";
import type { OrderSnapshot } from "./input/order.ts";
import { categoriesOf, type Redeemable } from "./input/redeemable.ts";
import type { VoucherSnapshot } from "./input/voucher.ts";
import { initialOrderState } from "./order/order-state.ts";
import { DEFAULT_STACKING_RULES } from "./stacking/stacking-rules.ts";

const now = Date.parse("2026-11-22T23:30:00.000Z");
const later = { ...unlimited, startDate: now + 1 };
const earlier = { ...unlimited, expirationDate: now - 1 };
const notToday = { ...unlimited, daysOfWeek: [3] };
const loyaltyCard = { value: { type: "LOYALTY_CARD", balance: 100n, lockedPoints: 0n } } as const;

describe("evaluate", () => {
  test.each([
    ["is switched off", { active: false }, "voucher_disabled"],
    [
      "belongs to a campaign that is switched off",
      { campaign: buildCampaign({ active: false }) },
      "voucher_disabled",
    ],
    ["starts later", { validity: later }, "voucher_not_active"],
    [
      "belongs to a campaign that starts later",
      { campaign: buildCampaign({ validity: later }) },
      "voucher_not_active",
    ],
    ["expired", { validity: earlier }, "voucher_expired"],
    [
      "belongs to a campaign that is over",
      { campaign: buildCampaign({ validity: earlier }) },
      "voucher_expired",
    ],
    ["is not for today", { validity: notToday }, "voucher_not_active_now"],
    [
      "is for Sundays, when the project has Monday already",
      { validity: { ...unlimited, daysOfWeek: [0] } },
      "voucher_not_active_now",
    ],
    ["is used up", { quantity: 3n, redeemedQuantity: 3n }, "quantity_exceeded"],
    [
      "has its last use locked by another session",
      { quantity: 3n, redeemedQuantity: 2n, lockedQuantity: 1n },
      "quantity_exceeded",
    ],
    ["may never be used", { quantity: 0n }, "quantity_exceeded"],
    [
      "is switched off before anything else",
      { active: false, validity: earlier, quantity: 0n },
      "voucher_disabled",
    ],
    ["starts later before it is used up", { validity: later, quantity: 0n }, "voucher_not_active"],
  ] as const satisfies [string, Partial<VoucherSnapshot>, string][])(
    "rejects a voucher that %s",
    (_what, voucher, key) => {
      expect(evaluated(voucherRedeemable(buildVoucher(voucher)))).toMatchObject({
        kind: "inapplicable",
        rejection: { key, details: "CODE" },
      });
    },
  );

  test.each([
    ["is not switched at all", { active: null }],
    [
      "belongs to a campaign that is not switched at all",
      { campaign: buildCampaign({ active: null }) },
    ],
    [
      "outlives its campaign",
      {
        validity: { ...unlimited, expirationDate: now },
        campaign: buildCampaign({ validity: earlier }),
      },
    ],
    ["has one use left", { quantity: 3n, redeemedQuantity: 1n, lockedQuantity: 1n }],
    [
      "is for Mondays, which the project has already",
      { validity: { ...unlimited, daysOfWeek: [1] } },
    ],
  ] as const satisfies [string, Partial<VoucherSnapshot>][])(
    "applies a voucher that %s",
    (_what, voucher) => {
      const evaluation = evaluated(voucherRedeemable(buildVoucher(voucher)));
      expect(evaluation).toMatchObject({ kind: "applicable", hasEffect: true });
    },
  );

  test("rejects an unknown code and names it", () => {
    const redeemable = { ...voucherRedeemable(buildVoucher()), id: "NOPE", voucher: null };
    expect(evaluated(redeemable)).toMatchObject({
      kind: "inapplicable",
      rejection: {
        key: "not_found",
        details: "Cannot find voucher with id NOPE",
        resourceId: "NOPE",
        resourceType: "voucher",
      },
    });
  });

  test("rejects a loyalty card without a reward", () => {
    expect(evaluated(voucherRedeemable(buildVoucher(loyaltyCard)))).toMatchObject({
      kind: "inapplicable",
      rejection: {
        key: "missing_reward",
        details: "A reward is required when redeeming a LOYALTY_CARD",
      },
    });
  });

  test("rejects a reward that the card's campaign does not offer", () => {
    const redeemable = voucherRedeemable(buildVoucher(loyaltyCard), {
      reward: { id: "rew_1", points: null, assignment: null },
    });
    expect(evaluated(redeemable)).toMatchObject({
      kind: "inapplicable",
      rejection: { key: "not_found", resourceType: "reward_assignment", resourceId: "rew_1" },
    });
  });

  test("checks a loyalty card's dates before its reward", () => {
    const voucher = buildVoucher({ ...loyaltyCard, validity: earlier });
    expect(evaluated(voucherRedeemable(voucher))).toMatchObject({
      rejection: { key: "voucher_expired" },
    });
  });

  test("applies a voucher without a discount, without effect", () => {
    const value = { type: "DISCOUNT_VOUCHER", discount: null } as const;
    expect(evaluated(voucherRedeemable(buildVoucher({ value })))).toMatchObject({
      kind: "applicable",
      benefit: { kind: "discount", effect: null },
      hasEffect: false,
    });
  });

  test("applies a discount without an order, without effect", () => {
    expect(evaluated(voucherRedeemable(buildVoucher()), null)).toMatchObject({
      kind: "applicable",
      hasEffect: false,
    });
  });
});

describe("count guards", () => {
  test.each([
    ["a voucher", buildVoucher()],
    ["a voucher with a limited quantity", buildVoucher({ quantity: 1n })],
    ["a gift card", buildGiftCard({ balance: 5000n })],
  ])("are empty for %s without rules that count redemptions", (_what, voucher) => {
    expect(evaluated(voucherRedeemable(voucher), { amount: 3000n })).toMatchObject({
      kind: "applicable",
      guards: [],
    });
  });
});

describe("categoriesOf", () => {
  test("returns the categories of the voucher and of its campaign once each", () => {
    const [first, second, third] = [1, 2, 3].map((n) => ({ id: `cat_${n}`, hierarchy: n }));
    if (!first || !second || !third) throw new Error("three categories");
    const campaign = buildCampaign({ categories: [second, third] });
    const voucher = buildVoucher({ categories: [first, second], campaign });
    expect(categoriesOf(voucherRedeemable(voucher))).toEqual([first, second, third]);
  });
});

function evaluated(
  redeemable: Redeemable,
  order: Partial<OrderSnapshot> | null = { amount: 10_000n },
): Evaluation {
  const snapshot = order === null ? null : buildOrder(order);
  const start = initialOrderState(snapshot);
  return evaluate(redeemable, start, {
    time: { now, timeZone: "Europe/Warsaw" },
    stacking: DEFAULT_STACKING_RULES,
    start,
    order: snapshot,
    customer: null,
    metadata: {},
    ...EMPTY_INPUT,
  });
}

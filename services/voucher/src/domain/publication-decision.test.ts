import { expect, test } from "vitest";

import {
  type CampaignTerms,
  decidePublication,
  isPublishable,
  type PublicationState,
  publishTo,
  voucherTypeOf,
} from "./publication-decision.ts";
import type { VoucherDefinition } from "./voucher.ts";

const NOON = Date.parse("2026-03-28T12:00:00Z");
const HELD = { voucherId: "v_own", publicationId: "pub_1" };
const free = { id: "v_1", holderId: null, publishCount: 0n };
const own = { id: "v_own", holderId: "cust_1", publishCount: 1n };
const others = { id: "v_2", holderId: "cust_2", publishCount: 1n };

const state: PublicationState = {
  customerId: "cust_1",
  joinOnce: false,
  earlier: null,
  count: 1,
  takenSourceId: null,
  voucher: null,
};

const PUBLISH = "publish";
const JOINED = "pub_1";

test.each<readonly [string, Partial<PublicationState>, string]>([
  ["any voucher", {}, PUBLISH],
  ["a free voucher", { voucher: free }, PUBLISH],
  ["somebody else's voucher", { voucher: others }, "voucher_already_published"],
  ["the own voucher again", { voucher: own }, "voucher_already_published"],
  ["any, first time of once", { joinOnce: true }, PUBLISH],
  ["a free one, first time of once", { joinOnce: true, voucher: free }, PUBLISH],
  ["any, joined before", { joinOnce: true, earlier: HELD }, JOINED],
  ["the own one, joined before", { joinOnce: true, earlier: HELD, voucher: own }, JOINED],
  [
    "another one, joined before",
    { joinOnce: true, earlier: HELD, voucher: free },
    "voucher_cannot_be_published",
  ],
  [
    "somebody else's, joined before",
    { joinOnce: true, earlier: HELD, voucher: others },
    "voucher_already_published",
  ],
  ["several", { count: 2 }, PUBLISH],
  ["several, first time of once", { joinOnce: true, count: 2 }, "too_many_vouchers_requested"],
  ["several, joined before", { joinOnce: true, earlier: HELD, count: 2 }, JOINED],
  ["a source id again", { takenSourceId: "s" }, "duplicate_source_id"],
  ["a source id again, own voucher", { takenSourceId: "s", voucher: own }, "duplicate_source_id"],
  [
    "a source id again, joined before",
    { takenSourceId: "s", joinOnce: true, earlier: HELD },
    JOINED,
  ],
])("%s", (_name, given, outcome) => {
  const decision = decidePublication({ ...state, ...given });
  const came =
    decision.kind === "rejected"
      ? decision.key
      : decision.kind === "already_joined"
        ? decision.publicationId
        : decision.kind;
  expect(came).toBe(outcome);
});

const campaign: CampaignTerms = {
  id: "camp_1",
  name: "spring",
  type: "DISCOUNT_COUPONS",
  joinOnce: false,
};

const definition: VoucherDefinition = {
  projectId: "proj_1",
  id: "v_1",
  code: "CODE",
  type: "DISCOUNT_VOUCHER",
  campaignId: "camp_1",
  campaignName: "spring",
  campaignType: "DISCOUNT_COUPONS",
  categoryId: null,
  discount: null,
  giftEffect: null,
  loyaltyPoints: null,
  validity: {
    startDate: NOON - 1000,
    expirationDate: NOON + 1000,
    timeframe: null,
    daysOfWeek: [1],
    hours: null,
  },
  activityDuration: null,
  active: true,
  additionalInfo: null,
  metadata: { own: true },
  assetId: "asset",
  isReferralCode: false,
  holderId: null,
  referrerId: null,
  publishCount: 0n,
  publicationMetadata: null,
  createdAt: NOON - 5000,
  updatedAt: null,
  version: 3n,
};

const customer = { id: "cust_1", metadata: { way: "mail" } };

test("assigns a published voucher to the customer in a new version", () => {
  const published = publishTo(definition, customer, { now: NOON, timeZone: "UTC" });
  expect(published).toEqual({
    ...definition,
    holderId: "cust_1",
    publishCount: 1n,
    publicationMetadata: { way: "mail" },
    updatedAt: NOON,
    version: 4n,
  });
});

test("sets the holder of a published referral code as its referrer", () => {
  const code = { ...definition, isReferralCode: true };
  expect(publishTo(code, customer, { now: NOON, timeZone: "UTC" })).toMatchObject({
    holderId: "cust_1",
    referrerId: "cust_1",
  });
});

test("replaces the dates by the activity duration in the project's time zone", () => {
  const timed = { ...definition, activityDuration: "P1D" };
  // In this night the clocks in Warsaw go forward: the day has 23 hours.
  const published = publishTo(timed, customer, { now: NOON, timeZone: "Europe/Warsaw" });
  expect(published.validity).toEqual({
    ...definition.validity,
    startDate: NOON,
    expirationDate: NOON + 23 * 60 * 60_000,
  });
});

test.each<readonly [string, Partial<VoucherDefinition>, boolean]>([
  ["as it is", {}, true],
  ["neither on nor off", { active: null }, true],
  ["switched off", { active: false }, false],
  ["published before", { publishCount: 1n }, false],
  ["held", { holderId: "cust_2" }, false],
  ["ending now", { validity: { ...definition.validity, expirationDate: NOON } }, false],
  ["without an end", { validity: { ...definition.validity, expirationDate: null } }, true],
  ["not begun yet", { validity: { ...definition.validity, startDate: NOON + 1 } }, true],
])("decides whether a voucher can be published %s", (_name, given, suitable) => {
  expect(isPublishable({ ...definition, ...given }, NOON)).toBe(suitable);
});

test("derives the voucher type from the campaign type", () => {
  const kinds = [
    "DISCOUNT_COUPONS",
    "REFERRAL_PROGRAM",
    "GIFT_VOUCHERS",
    "LOYALTY_PROGRAM",
  ] as const;
  expect(kinds.map((type) => voucherTypeOf({ ...campaign, type }))).toEqual([
    "DISCOUNT_VOUCHER",
    "DISCOUNT_VOUCHER",
    "GIFT_VOUCHER",
    "LOYALTY_CARD",
  ]);
});

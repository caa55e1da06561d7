import { sqlCheck, type InvariantCheck, listProjectsIn, type Queryable } from "@scrip/postgres";

import { checkStoredResponses } from "./idempotency-checks.ts";
import { HOLDERS } from "./publication-checks.ts";
import { PARTS, ROLLBACKS, SESSIONS, TOTALS, UNITS } from "./redemption-checks.ts";
import { CONVERSIONS, GIVEN_REWARDS, REWARDS } from "./referral-checks.ts";
import { BALANCES, LEDGERS, OWNERS, QUANTITIES, SPENDS } from "./voucher-checks.ts";

export { type PointsRedemption, readPointsRedemptions } from "./points-checks.ts";
export { checkRedemptionEvents, type EventCheckRequest } from "./event-invariants.ts";

/** Every project with vouchers or redemptions, also projects that the gateway no longer has. */
export const listVoucherProjects = (db: Queryable): Promise<readonly string[]> =>
  listProjectsIn(db, "voucher_usage");

export const voucherInvariants: readonly InvariantCheck[] = [
  {
    name: "I1 quantity",
    states: "a voucher counts its successful redemptions, and never more than its quantity",
    checkChunk: sqlCheck(QUANTITIES),
  },
  {
    name: "I2 balance",
    states: "a gift voucher's balance is its amount less its redemptions, and never negative",
    checkChunk: sqlCheck(BALANCES),
  },
  {
    name: "I2 ledger",
    states:
      "ledger entries count from 1 without gaps, each balance follows from the one before, and the amount is what was added and removed",
    checkChunk: sqlCheck(LEDGERS),
  },
  {
    name: "I2 spends",
    states: "each debit in the ledger is a successful redemption of that voucher and amount",
    checkChunk: sqlCheck(SPENDS),
  },
  {
    name: "I2 totals",
    states:
      "the totals of campaigns and tiers are the sums of their redemptions that were not rolled back",
    checkChunk: sqlCheck(TOTALS),
  },
  {
    name: "I2 units",
    states:
      "the discounted units of a product are the sum of the redemptions that were not rolled back",
    checkChunk: sqlCheck(UNITS),
  },
  {
    name: "I2 rollbacks",
    states: "each redemption that was rolled back has one rollback, which returned its amount",
    checkChunk: sqlCheck(ROLLBACKS),
  },
  {
    name: "I3 stacks",
    states: "the parts of a stack and their parent are redeemed, or rolled back, together",
    checkChunk: sqlCheck(PARTS),
  },
  {
    name: "I1 sessions",
    states:
      "redemptions see the locks of live sessions, which never exceed the remaining quantity or balance",
    checkChunk: sqlCheck(SESSIONS),
  },
  {
    name: "I3 vouchers",
    states: "each redemption belongs to a voucher, and each voucher has its counters",
    checkChunk: sqlCheck(OWNERS),
  },
  {
    name: "I3 holders",
    states: "a voucher belongs to the customer of its one successful publication",
    checkChunk: sqlCheck(HOLDERS),
  },
  {
    name: "I3 conversions",
    states: "a referee converts a referral code once",
    checkChunk: sqlCheck(CONVERSIONS),
  },
  {
    name: "I2 referral rewards",
    states: "each reward of a referral program that was paid is one entry of the ledger",
    checkChunk: sqlCheck(REWARDS),
  },
  {
    name: "I2 rewards",
    states:
      "each reward belongs to a redemption, is rolled back with it, and was given as a voucher of its campaign",
    checkChunk: sqlCheck(GIVEN_REWARDS),
  },
  {
    name: "I4 stored responses",
    states:
      "each stored response to an Idempotency-Key names redemptions that exist, and no two name the same",
    checkChunk: checkStoredResponses,
  },
];

import {
  type Chunk,
  type ChunkRequest,
  type InvariantCheck,
  listProjectsIn,
  type Queryable,
} from "@scrip/postgres";

import { checkAnswers } from "./answer-checks.ts";
import { HOLDERS } from "./publication-checks.ts";
import { PARTS, ROLLBACKS, SESSIONS, TOTALS, UNITS } from "./redemption-checks.ts";
import { BALANCES, LEDGERS, OWNERS, QUANTITIES, SPENDS } from "./voucher-checks.ts";

export { type PointsRedemption, readPointsRedemptions } from "./points-checks.ts";
export { checkRedemptionEvents, type EventCheckRequest } from "./event-invariants.ts";

/** Every project that has vouchers or redemptions, also one that the gateway no longer knows. */
export const listVoucherProjects = (db: Queryable): Promise<readonly string[]> =>
  listProjectsIn(db, "voucher_usage");

export const voucherInvariants: readonly InvariantCheck[] = [
  {
    name: "I1 quantity",
    states: "a voucher counts its successful redemptions, and never more than its quantity",
    checkChunk: (db, request) => check(db, QUANTITIES, request),
  },
  {
    name: "I2 balance",
    states:
      "a gift voucher's balance is what was put on it less what was spent, and never negative",
    checkChunk: (db, request) => check(db, BALANCES, request),
  },
  {
    name: "I2 ledger",
    states:
      "ledger entries count from 1 without gaps, and each balance follows from the one before",
    checkChunk: (db, request) => check(db, LEDGERS, request),
  },
  {
    name: "I2 spends",
    states: "each spend in the ledger is a successful redemption of that voucher and amount",
    checkChunk: (db, request) => check(db, SPENDS, request),
  },
  {
    name: "I2 totals",
    states:
      "the totals of campaigns and tiers are the sums over what was redeemed and not taken back",
    checkChunk: (db, request) => check(db, TOTALS, request),
  },
  {
    name: "I2 units",
    states:
      "the discounted units of a product are the sum over what was redeemed and not taken back",
    checkChunk: (db, request) => check(db, UNITS, request),
  },
  {
    name: "I2 rollbacks",
    states: "each redemption that was rolled back has one rollback, which gave back what it took",
    checkChunk: (db, request) => check(db, ROLLBACKS, request),
  },
  {
    name: "I3 stacks",
    states: "the parts of a stack and their parent are redeemed, or rolled back, together",
    checkChunk: (db, request) => check(db, PARTS, request),
  },
  {
    name: "I1 sessions",
    states: "what live sessions hold is known to redemptions, and no more than what is left",
    checkChunk: (db, request) => check(db, SESSIONS, request),
  },
  {
    name: "I3 vouchers",
    states: "each redemption belongs to a voucher, and each voucher has its counters",
    checkChunk: (db, request) => check(db, OWNERS, request),
  },
  {
    name: "I3 holders",
    states: "a voucher belongs to the one customer whom its one publication gave it to",
    checkChunk: (db, request) => check(db, HOLDERS, request),
  },
  {
    name: "I4 answers",
    states:
      "each kept answer to an Idempotency-Key names redemptions that are there, no two the same",
    checkChunk: checkAnswers,
  },
];

/** Answers one row for each that was checked: its id, and what is wrong with it or null. */
async function check(db: Queryable, sql: string, request: ChunkRequest): Promise<Chunk> {
  const { rows } = await db.query<{ id: string; fault: string | null }>(sql, [
    request.projectId,
    request.after,
    request.limit,
  ]);
  const last = rows.at(-1)?.id ?? null;
  return {
    checked: rows.length,
    last: rows.length < request.limit ? null : last,
    violations: rows.flatMap(({ id, fault }) =>
      fault === null ? [] : [{ subject: id, details: fault }],
    ),
  };
}

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { newId } from "@scrip/ids";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { newBatchCall } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { DAY, earningIn, PER_EURO } from "./earning-programs.ts";
import { tiersIn, voucherOf } from "./tier-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db, cards, pendingPoints } = loyalty;
const { earn, join } = earningIn(loyalty);
const { program } = tiersIn(loyalty);

const PENDING = { ...PER_EURO, pendingPoints: { periodType: "DAY", periodValue: 5n } };
const START = Date.parse("2026-03-01T12:00:00Z");
const day = (at: number): string => new Date(at).toISOString().slice(0, 10);

type Redeemed = { readonly card: number; readonly holdId: string; readonly redemptionId: string };

/** Two members of a program whose points expire after a month, and what can happen to their points. */
async function startWorld() {
  const club = await program([], { rules: [PENDING] });
  const { projectId, campaignId, call } = club;
  const members = [await join(club), await join(club)];
  let now = START;
  const redeemed: Redeemed[] = [];
  const at = () => timestampFromMs(now);
  const callNow = () => ({ ...call, now });
  const referenceOf = (card: number) => ({
    projectId,
    cardId: members[card]!.cardId,
    initialPoints: 0n,
    campaignId,
  });
  const hold = async (card: number, points: bigint): Promise<string | null> => {
    const parts = [{ ...referenceOf(card), points, rewardId: "rew_1", takesStock: false }];
    const commands = [{ projectId, now: at(), parts }];
    const [outcome] = (await cards.holdPoints({ commands }, newBatchCall())).outcomes;
    return outcome?.outcome.case === "held" ? (outcome.outcome.value.holds[0]?.id ?? null) : null;
  };
  const resolve = (holdId: string, redemptionId?: string) =>
    cards.resolvePointsHolds(
      { resolutions: [{ projectId, holdId, ...(redemptionId !== undefined && { redemptionId }) }] },
      newBatchCall(),
    );
  const adjust = (card: number, points: bigint, days: number | null) =>
    cards.adjustPoints(
      {
        card: referenceOf(card),
        operationId: newId("vtx"),
        points,
        expirationType: days === null ? "PROGRAM_RULES" : "CUSTOM_DATE",
        ...(days !== null && { expirationDate: day(now + days * DAY) }),
      },
      callNow(),
    );
  /** The oldest pending entry of a card. */
  const pendingOf = async (card: number) => {
    const { cardId } = members[card]!;
    const member = { memberId: cardId, voucher: voucherOf(cardId, campaignId) };
    const [entry] = (await pendingPoints.listMemberPendingPoints({ ...member, order: "id" }, call))
      .data;
    return entry && { ...member, pendingPointsId: entry.id };
  };
  return {
    projectId,
    cardIds: members.map(({ cardId }) => cardId),
    violations: club.violations,
    operations: {
      add: (card: number, points: number) => adjust(card, BigInt(points), null),
      addExpiring: (card: number, points: number) => adjust(card, BigInt(points), points % 20),
      remove: (card: number, points: number) => adjust(card, -BigInt(points), null),
      redeem: async (card: number, points: number) => {
        const holdId = await hold(card, BigInt(points));
        if (holdId === null) return;
        const redemptionId = newId("r");
        await resolve(holdId, redemptionId);
        redeemed.push({ card, holdId, redemptionId });
      },
      release: async (card: number, points: number) => {
        const holdId = await hold(card, BigInt(points));
        if (holdId !== null) await resolve(holdId);
      },
      refund: async (_: number, points: number) => {
        const one = redeemed[points % Math.max(1, redeemed.length)];
        if (one === undefined) return;
        const { holdId, redemptionId } = one;
        const refunds = [
          { projectId, holdId, redemptionId, rollbackId: `rr_${holdId}`, now: at() },
        ];
        await cards.refundPoints({ refunds }, newBatchCall());
      },
      transfer: (card: number, points: number) =>
        cards.transferPoints(
          {
            destination: referenceOf(1 - card),
            destinationCard: { code: "TO" },
            operationId: newId("vtx"),
            transfers: [
              { source: referenceOf(card), sourceCard: { code: "FROM" }, points: BigInt(points) },
            ],
          },
          callNow(),
        ),
      accrue: (card: number, points: number) =>
        earn([club.paid(members[card]!.customerId, BigInt(points) * 100n, now)]),
      adjustPending: async (card: number, points: number) => {
        const entry = await pendingOf(card);
        if (entry === undefined) return;
        const change = { ...entry, points: BigInt(points % 2 === 0 ? points : -points) };
        // An entry keeps at least one point.
        await pendingPoints.adjustPendingPoints(change, callNow()).catch(() => {});
      },
      activate: async (card: number) => {
        const entry = await pendingOf(card);
        if (entry !== undefined) await pendingPoints.activatePendingPoints(entry, callNow());
      },
      cancel: async (card: number) => {
        const entry = await pendingOf(card);
        if (entry !== undefined) await pendingPoints.cancelPendingPoints(entry, callNow());
      },
      wait: async (_: number, days: number) => {
        now += (1 + (days % 15)) * DAY;
        await club.setClock(day(now));
      },
    },
    /** The figures that the API shows of a card, and the rows that explain them. */
    stateOf: async (card: number) => {
      const reference = referenceOf(card);
      const [{ balances }, { lots }, { rows: entries }, { rows: pending }] = await Promise.all([
        cards.getCardBalances({ cards: [reference] }, callNow()),
        cards.listPointsLots({ card: reference, limit: 100n }, callNow()),
        db.query<{ type: string; points: bigint; balance_after: bigint; total_after: bigint }>(
          `select type, points, balance_after, total_after from ledger_entry
            where project_id = $1 and card_id = $2 order by id`,
          [projectId, reference.cardId],
        ),
        db.query<{ points: bigint }>(
          "select points from pending_points where project_id = $1 and card_id = $2 and status = 'PENDING'",
          [projectId, reference.cardId],
        ),
      ]);
      return { figures: balances[0]!, lots, entries, pending };
    },
  };
}

const sum = (items: readonly { readonly points: bigint }[]): bigint =>
  items.reduce((all, { points }) => all + points, 0n);

type World = Awaited<ReturnType<typeof startWorld>>;

/** I1 to I6, from what the API shows and from the entries in the order of their ids. */
async function checkCard(world: World, card: number): Promise<void> {
  const { figures, lots, entries, pending } = await world.stateOf(card);
  const { points, balance, redeemedPoints, expiredPoints, subtractedPoints } = figures;
  const of = (...types: readonly string[]) =>
    sum(entries.filter(({ type }) => types.includes(type)));
  expect(balance).toBe(points - expiredPoints - subtractedPoints - redeemedPoints);
  expect(balance).toBeGreaterThanOrEqual(0n);
  expect(balance).toBe(sum(lots));
  expect(redeemedPoints).toBe(-of("POINTS_REDEMPTION", "POINTS_REFUND"));
  expect(figures.pendingPoints).toBe(sum(pending));
  let before = 0n;
  for (const entry of entries) {
    expect(entry.balance_after).toBe(before + entry.points);
    before = entry.balance_after;
  }
  const last = entries.at(-1);
  // Points past their date count as expired before the night wrote their entry.
  const due = expiredPoints + of("POINTS_EXPIRATION");
  expect((last?.balance_after ?? 0n) - due).toBe(balance);
  expect((last?.total_after ?? 0n) - due).toBe(points - expiredPoints - subtractedPoints);
}

const NAMES = [
  "add",
  "addExpiring",
  "remove",
  "redeem",
  "release",
  "refund",
  "transfer",
  "accrue",
  "adjustPending",
  "activate",
  "cancel",
  "wait",
] as const;

test("the figures of cards add up after any operation, in any order", async () => {
  const step = fc.record({
    name: fc.constantFrom(...NAMES),
    card: fc.integer({ min: 0, max: 1 }),
    points: fc.integer({ min: 1, max: 120 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      const world = await startWorld();
      for (const { name, card, points } of steps) {
        await world.operations[name](card, points);
        await checkCard(world, 0);
        await checkCard(world, 1);
        expect(await world.violations()).toEqual([]);
      }
    }),
    { numRuns: 6 },
  );
});

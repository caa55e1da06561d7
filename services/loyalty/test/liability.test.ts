import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { newId } from "@scrip/ids";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { addDays, localDateAt } from "../src/domain/local-date.ts";
import type { MovementType } from "../src/domain/move-points.ts";
import {
  addPoints,
  liabilityAsOf,
  NO_POINTS,
  type PointsAsOf,
} from "../src/domain/points-as-of.ts";
import { runDueNights } from "../src/jobs/nightly.ts";
import { movePoints } from "../src/points/move-points.ts";
import { sumProgramAsOf } from "../src/store/ledger-as-of.ts";
import { sumProgram } from "../src/store/program-points.ts";
import { holdIdOf, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { earningIn, PER_EURO } from "./earning-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db, cards, liability, pendingPoints } = loyalty;
const { earn, setUp, join } = earningIn(loyalty);

const HOUR = 3_600_000;

/** What happens to a card, some hours after what happened before. */
type Step = {
  readonly hours: number;
  readonly card: number;
  readonly points: bigint;
  readonly days: number;
  readonly kind:
    | "credit"
    | "remove"
    | "redeem"
    | "refund"
    | "earn"
    | "adjust"
    | "activate"
    | "cancel"
    | "night";
};

const step: fc.Arbitrary<Step> = fc.record({
  hours: fc.integer({ min: 1, max: 24 * 20 }),
  card: fc.nat({ max: 2 }),
  points: fc.bigInt({ min: 1n, max: 60n }),
  days: fc.nat({ max: 40 }),
  kind: fc.constantFrom(
    "credit",
    "credit",
    "remove",
    "redeem",
    "refund",
    "earn",
    "earn",
    "adjust",
    "activate",
    "cancel",
    "night",
  ),
});

/** Runs the steps in a program of three cards, and returns what a reader saw after each of them. */
async function history(steps: readonly Step[]) {
  const program = await setUp([
    { ...PER_EURO, pendingPoints: { periodType: "DAY", periodValue: 9n } },
  ]);
  const { call, projectId, campaignId } = program;
  const members = [await join(program), await join(program), await join(program)];
  const references = members.map(({ cardId }) => ({
    projectId,
    cardId,
    initialPoints: 0n,
    campaignId,
  }));
  const claimed: { holdId: string; redemptionId: string; rolledBack: boolean }[] = [];
  let now = NOON;
  const perform = async ({ kind, card, points, days }: Step): Promise<void> => {
    const member = members[card]!;
    const reference = references[card]!;
    const today = localDateAt("UTC", now);
    const move = (type: MovementType, expiresOn: string | null) =>
      db.transaction((tx) =>
        movePoints(tx, { newId }, [
          {
            card: reference,
            type,
            points,
            expiresOn,
            cause: newId("vtx"),
            at: now,
            expiredBefore: today,
          },
        ]),
      );
    const voucher = {
      id: member.cardId,
      code: "C",
      campaignId,
      isLoyaltyCard: true,
      isReferralCode: false,
    };
    const pending = async () => {
      const { data } = await pendingPoints.listMemberPendingPoints(
        { memberId: "C", voucher },
        call,
      );
      return { memberId: "C", voucher, pendingPointsId: data[0]?.id ?? "" };
    };
    const at = { ...call, now };
    // Steps that a card does not allow are rejected and change nothing.
    switch (kind) {
      case "credit":
        return void (await move("POINTS_ADDITION", days === 0 ? null : addDays(today, days)));
      case "remove":
        return void (await move("POINTS_REMOVAL", null));
      case "redeem": {
        const part = { ...reference, points, rewardId: "rew_1", takesStock: false };
        const commands = [{ projectId, now: timestampFromMs(now), parts: [part] }];
        const { outcomes } = await cards.holdPoints({ commands }, at);
        const holdId = holdIdOf(outcomes[0]!.outcome);
        if (holdId === "") return;
        const redemptionId = newId("r");
        await cards.resolvePointsHolds({ resolutions: [{ projectId, holdId, redemptionId }] }, at);
        claimed.push({ holdId, redemptionId, rolledBack: false });
        return;
      }
      case "refund": {
        const one = claimed.find(({ rolledBack }) => !rolledBack);
        if (one === undefined) return;
        one.rolledBack = true;
        const refund = { ...one, projectId, rollbackId: newId("rr"), now: timestampFromMs(now) };
        return void (await cards.refundPoints({ refunds: [refund] }, at));
      }
      case "earn":
        return earn([program.paid(member.customerId, points * 100n, now)]);
      case "adjust":
        return void (await pendingPoints
          .adjustPendingPoints({ ...(await pending()), points: points - 20n }, at)
          .catch(() => {}));
      case "activate":
        return void (await pendingPoints
          .activatePendingPoints(await pending(), at)
          .catch(() => {}));
      case "cancel":
        return void (await pendingPoints.cancelPendingPoints(await pending(), at).catch(() => {}));
      case "night":
        return void (await runDueNights(createDeps(db), { projectId, timeZone: "UTC", now }));
    }
  };
  const read = async (at: number, asOf?: number) => {
    const request = {
      cards: references,
      ...(asOf !== undefined && { asOf: timestampFromMs(asOf) }),
    };
    return (await cards.getCardBalances(request, { ...call, now: at })).balances;
  };
  const seen: { readonly at: number; readonly balances: Awaited<ReturnType<typeof read>> }[] = [];
  for (const one of steps) {
    // Nights that were due in between run first, so that what they write has the time at which it happened.
    now += one.hours * HOUR;
    await runDueNights(createDeps(db), { projectId, timeZone: "UTC", now });
    await perform(one);
    seen.push({ at: now, balances: await read(now) });
  }
  const readLiability = (asOf: number) =>
    liability.getLiability({ campaignId, asOf: timestampFromMs(asOf) }, { ...call, now });
  const ofProgram = { projectId, campaignId };
  const sumOf = async (pages: AsyncIterable<PointsAsOf>) => {
    let points = NO_POINTS;
    for await (const page of pages) points = addPoints(points, page);
    return points;
  };
  const sumInPages = (asOf: number, cardsOfPage: number) =>
    sumOf(sumProgramAsOf(db, { ...ofProgram, asOf }, cardsOfPage));
  const sumOfState = (size: number) =>
    sumOf(sumProgram(db, ofProgram, { first: size, largest: size }));
  const lots = async (cardId: string) =>
    (
      await cards.listPointsLots(
        { card: { ...references[0]!, cardId }, limit: 100n, offset: 0n },
        { ...call, now },
      )
    ).lots;
  return { program, members, seen, now, read, readLiability, sumInPages, sumOfState, lots };
}

const sum = (points: readonly bigint[]): bigint => points.reduce((all, one) => all + one, 0n);

describe("GetLiability and cards as of a time", () => {
  test("show for every time the points that a reader saw then, and the sum over the cards", async () => {
    const steps = fc.array(step, { minLength: 8, maxLength: 30 });
    const pending: Step[] = [
      { kind: "credit", card: 0, points: 40n, hours: 1, days: 3 },
      { kind: "earn", card: 1, points: 30n, hours: 1, days: 0 },
    ];
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { program, members, seen, now, read, readLiability, sumInPages, sumOfState, lots } =
          await history(all);
        for (const { at, balances } of seen) {
          expect(await read(now, at)).toEqual(balances);
          const owed = await readLiability(at);
          expect(owed).toMatchObject({
            cards: 3n,
            outstandingPoints: sum(balances.map(({ balance }) => balance)),
            pendingPoints: sum(balances.map((card) => card.pendingPoints)),
          });
          const parts = owed.expiringPoints.map(({ points }) => points);
          expect(sum([...parts, owed.neverExpiringPoints])).toBe(owed.outstandingPoints);
        }
        const atOnce = await sumInPages(now, members.length + 1);
        for (const cardsOfPage of [1, 2, 3]) {
          expect(await sumInPages(now, cardsOfPage)).toEqual(atOnce);
          // The present from the entries, and from balances and lots.
          const today = localDateAt("UTC", now);
          expect(liabilityAsOf(await sumOfState(cardsOfPage), today)).toEqual(
            liabilityAsOf(atOnce, today),
          );
        }
        const current = await readLiability(now);
        const stored = (await Promise.all(members.map(({ cardId }) => lots(cardId)))).flat();
        const months = Map.groupBy(
          stored.filter(({ points }) => points > 0n),
          ({ expiresAt }) => expiresAt?.slice(0, 7) ?? "never",
        );
        const expected = new Map(
          [...months].map(([month, of]) => [month, sum(of.map(({ points }) => points))]),
        );
        const never = expected.get("never") ?? 0n;
        expected.delete("never");
        expect(current.neverExpiringPoints).toBe(never);
        expect(new Map(current.expiringPoints.map(({ month, points }) => [month, points]))).toEqual(
          expected,
        );
        expect(await program.violations()).toEqual([]);
      }),
      { numRuns: 6, endOnFailure: true, examples: [[pending]] },
    );
  });

  test("owe nothing for cards that were published later, and the initial points from then on", async () => {
    const { program, members, readLiability, read, now } = await history([]);
    await db.query(
      "update loyalty_member set initial_points = 50 where project_id = $1 and card_id = $2",
      [program.projectId, members[0]!.cardId],
    );
    const published = NOON - 24 * HOUR;
    expect(await readLiability(published - 1)).toMatchObject({ cards: 0n, outstandingPoints: 0n });
    expect(await readLiability(published)).toMatchObject({ cards: 3n, outstandingPoints: 50n });
    expect(await read(now, published - 1)).toMatchObject([
      { balance: 0n },
      { balance: 0n },
      { balance: 0n },
    ]);
  });

  test("count each card once in a program of several pages", async () => {
    const { program, members, readLiability } = await history([]);
    await db.query(
      `insert into loyalty_member (project_id, card_id, campaign_id, customer_id, initial_points, joined_at)
       select project_id, card_id || n, campaign_id, customer_id, n, joined_at
         from loyalty_member, generate_series(1, 2500) n
        where project_id = $1 and card_id = $2`,
      [program.projectId, members[0]!.cardId],
    );
    expect(await readLiability(NOON)).toMatchObject({
      cards: 2_503n,
      outstandingPoints: (2_500n * 2_501n) / 2n,
    });
  });
});

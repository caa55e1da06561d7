import { fromBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { LoyaltyProgramChangedSchema } from "@scrip/proto/scrip/events/v1/loyalty_programs_pb";
import { PointsMovedSchema } from "@scrip/proto/scrip/events/v1/points_pb";
import { afterAll, describe, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { addDays, localDateAt } from "../src/domain/local-date.ts";
import { onLoyaltyProgram } from "../src/events/on-loyalty-program.ts";
import { runDueNights } from "../src/jobs/nightly.ts";
import { deliveryFrom, holdIdOf, newBatchCall, newEvent, newLoyaltyCard } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db, cards } = loyalty;

const DAY_MS = 86_400_000;
const TODAY = localDateAt("UTC", Date.now());
const YESTERDAY = addDays(TODAY, -1);
const LAST_WEEK = { expiredBefore: addDays(TODAY, -7), at: Date.now() - 7 * DAY_MS };

const eventsOf = async (projectId: string) => {
  const { rows } = await db.query<{ payload: Uint8Array; key: string; topic: string }>(
    "select key, topic, payload from outbox where project_id = $1 order by id",
    [projectId],
  );
  return rows.map(({ key, topic, payload }) => ({
    key,
    topic,
    ...fromBinary(PointsMovedSchema, payload),
  }));
};

describe("movePoints", () => {
  test("opens the card, and writes the lot, the entry and the event in one transaction", async () => {
    const card = newLoyaltyCard(loyalty, 100n);
    const moved = await card.move({
      type: "POINTS_ACCRUAL",
      points: 30n,
      expiresOn: "2099-12-31",
      card: { ...card.reference, campaignId: "camp_1" },
      sourceId: "crm-1",
    });
    expect(moved).toMatchObject({ kind: "moved", card: { balance: 130n } });
    expect(await card.ledger()).toEqual([["POINTS_ACCRUAL", 30n, 130n]]);
    expect(await card.lots()).toEqual([["2099-12-31", 30n, "active"]]);
    expect(await eventsOf(card.projectId)).toMatchObject([
      {
        topic: "scrip.points.v1",
        key: card.cardId,
        campaignId: "camp_1",
        type: "POINTS_ACCRUAL",
        points: 30n,
        balance: 130n,
        total: 130n,
        sourceId: "crm-1",
        version: 1n,
      },
    ]);
    expect(await card.violations()).toEqual([]);
  });

  test("moves the points of a cause once when it arrives several times concurrently", async () => {
    const card = newLoyaltyCard(loyalty, 100n);
    const credit = { type: "POINTS_ACCRUAL" as const, points: 30n, cause: "order:1:rule:1" };
    const kinds = await Promise.all([1, 2, 3, 4].map(async () => (await card.move(credit)).kind));
    expect(kinds.toSorted()).toEqual(["moved", "repeated", "repeated", "repeated"]);
    expect(await card.balances()).toMatchObject({ points: 130n, balance: 130n });
  });

  test("removes no points that redemptions hold or sessions lock", async () => {
    const card = newLoyaltyCard(loyalty, 100n);
    await card.hold(20n);
    await card.lock("mine", 30n);
    const removal = { type: "POINTS_REMOVAL" as const };
    expect(await card.move({ ...removal, points: 51n })).toEqual({
      kind: "rejected",
      key: "loyalty_card_points_exceeded",
      limit: 50n,
    });
    expect(await card.move({ ...removal, points: 50n })).toMatchObject({ kind: "moved" });
    expect(await card.violations()).toEqual([]);
  });

  test("never overdraws a card when removals and holds arrive concurrently", async () => {
    const card = newLoyaltyCard(loyalty, 0n);
    await card.move({ type: "POINTS_ADDITION", points: 60n, expiresOn: addDays(TODAY, 1) });
    await card.move({ type: "POINTS_ADDITION", points: 40n });
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        if (index % 2 === 0) {
          const removal = await card.move({ type: "POINTS_REMOVAL", points: 25n });
          return removal.kind === "moved";
        }
        const held = await card.hold(25n, { requestKey: `key-${index}` });
        if (held.case !== "held") return false;
        await card.claim(held.value.holds[0]!.id, `r_${index}`);
        return true;
      }),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(4);
    expect(await card.balances()).toMatchObject({ balance: 0n });
    expect(await card.violations()).toEqual([]);
  });
});

describe("points past their date", () => {
  test("are not spendable, in reads and holds, before any job has run", async () => {
    const card = newLoyaltyCard(loyalty, 10n);
    await card.move({ type: "POINTS_ADDITION", points: 60n, expiresOn: YESTERDAY, ...LAST_WEEK });
    const { balances } = await cards.getCardBalances({ cards: [card.reference] }, newBatchCall());
    expect(balances[0]).toMatchObject({ points: 70n, balance: 10n, expiredPoints: 60n });
    expect(balances[0]?.nextExpirationDate).toBeUndefined();
    const queries = [
      {
        projectId: card.projectId,
        now: timestampFromMs(Date.now()),
        cards: [{ ...card.reference }],
      },
    ];
    const { results } = await cards.loadCards({ queries }, newBatchCall());
    expect(results[0]?.cards[0]?.balances).toMatchObject({ balance: 10n });
    expect(await card.hold(11n)).toMatchObject({ case: "rejected" });
    expect(await card.ledger()).toEqual([
      ["POINTS_ADDITION", 60n, 70n],
      ["POINTS_EXPIRATION", -60n, 10n],
    ]);
    expect(await card.lots()).toEqual([[YESTERDAY, 60n, "expired"]]);
    const bucket = { id: expect.stringMatching(/^lopb_/), points: 60n, expiresOn: YESTERDAY };
    expect(await eventsOf(card.projectId)).toMatchObject([
      { type: "POINTS_ADDITION", buckets: [] },
      { type: "POINTS_EXPIRATION", buckets: [bucket] },
    ]);
    expect(await card.violations()).toEqual([]);
  });

  test("stay when a redemption held them in time, and expire when its hold is released", async () => {
    const card = newLoyaltyCard(loyalty, 0n);
    await card.move({ type: "POINTS_ADDITION", points: 60n, expiresOn: addDays(TODAY, 1) });
    const [claimed, released] = [holdIdOf(await card.hold(20n)), holdIdOf(await card.hold(10n))];
    const later = { expiredBefore: addDays(TODAY, 2), at: Date.now() + 2 * DAY_MS };
    await card.move({ type: "POINTS_ADDITION", points: 5n, ...later });
    expect(await card.balances()).toMatchObject({ balance: 5n });
    await card.claim(claimed, "r_1");
    await card.release(released);
    await card.move({ type: "POINTS_ADDITION", points: 1n, ...later });
    expect(await card.balances()).toMatchObject({ balance: 6n, redeemedPoints: 20n });
    expect(await card.ledger()).toEqual([
      ["POINTS_ADDITION", 60n, 60n],
      ["POINTS_EXPIRATION", -30n, 30n],
      ["POINTS_ADDITION", 5n, 35n],
      ["POINTS_REDEMPTION", -20n, 15n],
      ["POINTS_EXPIRATION", -10n, 5n],
      ["POINTS_ADDITION", 1n, 6n],
    ]);
    expect(await card.violations()).toEqual([]);
  });

  test("expire night by night, once, also when jobs run concurrently and a hold reserves some", async () => {
    const card = newLoyaltyCard(loyalty, 5n);
    const lot = (points: bigint, days: number) => ({
      type: "POINTS_ADDITION" as const,
      points,
      expiresOn: addDays(TODAY, days),
    });
    await card.move(lot(10n, 1));
    await card.move(lot(20n, 200));
    await card.move(lot(40n, 500));
    const held = holdIdOf(await card.hold(4n));
    const deps = createDeps(db);
    const night = { projectId: card.projectId, timeZone: "UTC", now: Date.now() + 365 * DAY_MS };
    const finished = await Promise.all([1, 2, 3].map(() => runDueNights(deps, night)));
    expect(finished).toEqual([true, true, true]);
    await card.claim(held, "r_1");
    expect(await runDueNights(deps, night)).toBe(true);
    expect((await card.ledger()).slice(3)).toEqual([
      ["POINTS_EXPIRATION", -6n, 69n],
      ["POINTS_REDEMPTION", -4n, 65n],
      ["POINTS_EXPIRATION", -20n, 45n],
    ]);
    expect(await card.balances()).toMatchObject({ balance: 45n });
    expect(await card.violations()).toEqual([]);
  });

  test("reduce the locks of sessions", async () => {
    const card = newLoyaltyCard(loyalty, 50n);
    await card.move({ type: "POINTS_ADDITION", points: 60n, expiresOn: YESTERDAY, ...LAST_WEEK });
    await db.query(
      `insert into points_lock (project_id, card_id, session_key, points, locked_at, expires_at, kept_until)
       values ($1, $2, 'mine', 90, now() - interval '1 day', now() + interval '1 day', now() + interval '2 days')`,
      [card.projectId, card.cardId],
    );
    await card.move({ type: "POINTS_ADDITION", points: 1n });
    expect(await card.lock("other", 1n)).toBe(false);
    expect(await card.violations()).toEqual([]);
  });

  test("go to a lot of the program's current date after a rollback", async () => {
    const card = newLoyaltyCard(loyalty, 0n);
    const { projectId } = card;
    const program = newEvent(
      LoyaltyProgramChangedSchema,
      { projectId, topic: "scrip.campaigns.v1" },
      {
        projectId,
        campaignId: "camp_1",
        name: "club",
        active: true,
        expirationRules: { period_type: "FIXED_DAY_OF_YEAR", fixed_month: 12, fixed_day: 31 },
      },
    );
    await onLoyaltyProgram(createDeps(db))([program, program], deliveryFrom("scrip.campaigns.v1"));
    const credit = { type: "POINTS_ADDITION" as const, points: 30n, expiresOn: YESTERDAY };
    const reference = { ...card.reference, campaignId: "camp_1" };
    await card.move({ ...credit, card: reference, ...LAST_WEEK });
    const parts = [{ ...reference, points: 30n, rewardId: "rew_1", takesStock: false }];
    const command = { projectId, now: timestampFromMs(LAST_WEEK.at), parts };
    const { outcomes } = await cards.holdPoints({ commands: [command] }, newBatchCall());
    const holdId = holdIdOf(outcomes[0]!.outcome);
    await card.claim(holdId, "r_1");
    const refund = { projectId, holdId, redemptionId: "r_1", rollbackId: "rr_1" };
    const at = Date.now();
    const now = timestampFromMs(at);
    await cards.refundPoints({ refunds: [{ ...refund, now }] }, newBatchCall());
    expect(await card.lots()).toEqual([
      [YESTERDAY, 0n, "active"],
      [`${localDateAt("UTC", at).slice(0, 4)}-12-31`, 30n, "active"],
    ]);
    expect(await card.violations()).toEqual([]);
  });

  test("return to their lot after a rollback, and never expire if it has expired and the program has no rules", async () => {
    const card = newLoyaltyCard(loyalty, 0n);
    await card.move({ type: "POINTS_ADDITION", points: 30n, expiresOn: YESTERDAY, ...LAST_WEEK });
    await card.move({
      type: "POINTS_ADDITION",
      points: 30n,
      expiresOn: addDays(TODAY, 9),
      ...LAST_WEEK,
    });
    const hold = { ...card.reference, points: 40n, rewardId: "rew_1", takesStock: false };
    const command = {
      projectId: card.projectId,
      now: timestampFromMs(LAST_WEEK.at),
      parts: [hold],
    };
    const { outcomes } = await cards.holdPoints({ commands: [command] }, newBatchCall());
    const holdId = holdIdOf(outcomes[0]!.outcome);
    await card.claim(holdId, "r_1");
    await card.refund(holdId, "r_1", "rr_1");
    expect(await card.lots()).toEqual([
      [YESTERDAY, 0n, "active"],
      [addDays(TODAY, 9), 30n, "active"],
    ]);
    expect(await card.balances()).toMatchObject({ balance: 60n, redeemedPoints: 0n });
    expect(await card.violations()).toEqual([]);
  });
});

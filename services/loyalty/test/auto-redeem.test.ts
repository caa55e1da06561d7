import { fromBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { newId } from "@scrip/ids";
import { AutoRedemptionHeldSchema } from "@scrip/proto/scrip/events/v1/points_pb";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { VoucherPublishedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";
import { serviceCall } from "@scrip/rpc";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";

import { VOUCHERS_TOPIC } from "../src/events/on-member.ts";
import { onRedemptionPoints } from "../src/events/on-redemption-points.ts";
import { autoRedeem } from "../src/reward/auto-redeem.ts";
import { type AutoRedeemClub, autoRedeemIn } from "./auto-redeem-programs.ts";
import { deliveryFrom, newEvent, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { earningIn } from "./earning-programs.ts";
import { BRONZE, SILVER, tiersIn } from "./tier-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db, rewards, cards, earningRules } = loyalty;
const { earn, publish } = earningIn(loyalty);
const { deps } = tiersIn(loyalty);

const { setUp } = autoRedeemIn(loyalty);

test("holds the points of as many rewards as they buy, once, and announces them", async () => {
  const club = await setUp();
  await club.offer();
  const key = { projectId: club.projectId, cardId: club.cardId };
  await club.move(club.cardId, 99n);
  expect(await club.holds()).toEqual([]);
  await db.transaction((tx) => autoRedeem(tx, deps, [key]));
  await club.move(club.cardId, 151n);
  await Promise.all([1, 2, 3].map(() => db.transaction((tx) => autoRedeem(tx, deps, [key]))));
  const [hold, ...others] = await club.holds();
  expect(hold).toMatchObject({ points: 200n, quantity: 2n, status: "PENDING" });
  expect(others).toEqual([]);
  expect(await club.redeemed()).toBe(2n);
  expect(await club.violations()).toEqual([]);
});

test("the event carries what the redemption shows, and a release returns points and stock", async () => {
  const club = await setUp();
  await club.offer();
  const { projectId, cardId, customerId } = club;
  await db.query("delete from outbox where project_id = $1", [projectId]);
  await club.move(cardId, 50n);
  const card = { projectId, cardId, initialPoints: 0n, campaignId: club.campaignId };
  await cards.adjustPoints(
    { card, operationId: newId("vtx"), points: 60n, expirationType: "NON_EXPIRING" },
    club.call,
  );
  await db.query("delete from outbox where project_id = $1", [projectId]);
  expect(await db.transaction((tx) => autoRedeem(tx, deps, [{ projectId, cardId }]))).toBe(1);
  const { rows } = await db.query<{ payload: Uint8Array }>(
    "select payload from outbox where project_id = $1 and type = $2",
    [projectId, AutoRedemptionHeldSchema.typeName],
  );
  const [hold] = await club.holds();
  expect(rows.map(({ payload }) => fromBinary(AutoRedemptionHeldSchema, payload))).toMatchObject([
    { cardId, customerId, holdId: hold?.id, points: 100n, balance: 10n, quantity: 1n },
  ]);
  await cards.resolvePointsHolds(
    { resolutions: [{ projectId, holdId: hold?.id ?? "" }] },
    serviceCall(),
  );
  expect(await club.redeemed()).toBe(0n);
  expect(await club.violations()).toEqual([]);
});

test("the hold waits a day for its event before it is listed as abandoned", async () => {
  const club = await setUp();
  await club.offer();
  await club.move(club.cardId, 100n);
  const listedAfter = async (hours: number) => {
    await db.query(
      "update points_spend set created_at = now() - $2::int * interval '1 hour' where project_id = $1",
      [club.projectId, hours],
    );
    const { holds } = await cards.listPendingPointsHolds(
      { olderThanMs: 20_000n, limit: 1_000n },
      serviceCall(),
    );
    return holds.filter(({ projectId }) => projectId === club.projectId).length;
  };
  expect(await listedAfter(23)).toBe(0);
  expect(await listedAfter(25)).toBe(1);
});

test("is bounded by the stock, by 25 rewards, and by ten redemptions of a customer on a day", async () => {
  const scarce = await setUp({ stock: 3n });
  await scarce.offer();
  await scarce.move(scarce.cardId, 1_000n);
  expect(await scarce.holds()).toMatchObject([{ quantity: 3n }]);
  const club = await setUp();
  await club.offer();
  await club.move(club.cardId, 30_000n);
  expect(await club.holds()).toMatchObject([{ quantity: 25n }]);
  for (let count = 0; count < 11; count += 1) await club.move(club.cardId, 1n);
  expect(await club.holds()).toHaveLength(10);
  expect(await club.violations()).toEqual([]);
});

describe("tiers are evaluated after automatic redemptions", () => {
  /** Delivers the redemptions of the pending holds, like the voucher service. */
  const claim = async ({ projectId, holds, deliver }: AutoRedeemClub) => {
    const topic = "scrip.redemptions.v1";
    const pending = (await holds()).filter(({ status }) => status === "PENDING");
    const events = pending.map(({ id }) =>
      newEvent(
        RedemptionMadeSchema,
        { projectId, topic },
        { projectId, redemptionId: newId("r"), pointsHoldId: id },
      ),
    );
    await onRedemptionPoints(deps)(events, deliveryFrom(topic));
    await deliver();
  };
  const released = ({ projectId, holds, call }: AutoRedeemClub) =>
    holds().then((all) =>
      cards.resolvePointsHolds(
        { resolutions: all.map(({ id: holdId }) => ({ projectId, holdId })) },
        call,
      ),
    );

  test("a tier by balance at the price of the reward is not reached, one below it is", async () => {
    const club = await setUp({ levels: [BRONZE, SILVER] });
    await club.offer();
    await club.move(club.cardId, 150n);
    await claim(club);
    await club.move(club.cardId, 10n);
    expect(club.changes).toEqual(["2026-03-01 joined Bronze"]);
    expect(await club.violations()).toEqual([]);
  });

  test("credits that are settled together reach the same tiers as one by one", async () => {
    const changesOf = async (credits: readonly (readonly bigint[])[]) => {
      const policy = { expiration_date: { type: "CUSTOM", extend: "P1Y" } };
      const levels = [{ ...SILVER, points: { from: 50n, to: 99n } }];
      const club = await setUp({ levels, policy });
      await club.offer();
      const { projectId, cardId, campaignId, call } = club;
      const card = { projectId, cardId, initialPoints: 0n, campaignId };
      for (const together of credits) {
        for (const points of together) {
          const change = { card, operationId: newId("vtx"), points };
          await cards.adjustPoints({ ...change, expirationType: "NON_EXPIRING" }, call);
        }
        await club.deliver();
      }
      return club.changes;
    };
    const alone = await changesOf([[60n], [60n]]);
    expect(alone).toHaveLength(1);
    expect(await changesOf([[60n, 60n]])).toEqual(alone);
    expect(await changesOf([[40n, 65n]])).toEqual([]);
  });

  test("points that moved before the publication arrived are redeemed with it, those that a card starts with are not", async () => {
    const club = await setUp({ levels: [SILVER] });
    await club.offer();
    const { projectId, campaignId, newCustomer } = club;
    const cardId = newId("v");
    await club.move(cardId, 250n);
    expect(await club.holds()).toEqual([]);
    await publish([
      club.published(await newCustomer(), { cardId }),
      newEvent(
        VoucherPublishedSchema,
        { projectId, topic: VOUCHERS_TOPIC },
        {
          projectId,
          voucherId: newId("v"),
          campaignId,
          customerId: await newCustomer(),
          date: timestampFromMs(NOON),
          loyaltyPoints: 190n,
        },
      ),
    ]);
    await club.deliver();
    expect(await club.holds()).toMatchObject([{ points: 200n, quantity: 2n }]);
    // The other card, by the points that it starts with.
    expect(club.changes).toEqual(["2026-03-01 joined Silver"]);
    expect(await club.violations()).toEqual([]);
  });

  test("points that are credited while the publication is handled are redeemed before the tier", async () => {
    const club = await setUp({ levels: [SILVER] });
    await club.offer();
    const publications = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const cardId = newId("v");
        return { cardId, event: club.published(await club.newCustomer(), { cardId }) };
      }),
    );
    await Promise.all(
      publications.flatMap(({ cardId, event }) => [publish([event]), club.move(cardId, 250n)]),
    );
    await club.deliver();
    expect((await club.holds()).map(({ points }) => points)).toEqual(publications.map(() => 200n));
    expect(club.changes).toEqual([]);
    expect(await club.violations()).toEqual([]);
  });

  test("points that a redemption returns count again", async () => {
    const club = await setUp({ levels: [SILVER] });
    await club.offer();
    await club.move(club.cardId, 150n);
    expect(club.changes).toEqual([]);
    await released(club);
    await club.deliver();
    await released(club);
    await club.deliver();
    expect(club.changes).toEqual(["2026-03-01 joined Silver"]);
    expect(await club.violations()).toEqual([]);
  });

  test("rewards are redeemed at the price of the tier before the points", async () => {
    const levels = [
      { ...BRONZE, points: { from: 0n, to: 119n } },
      { ...SILVER, points: { from: 120n } },
    ];
    const club = await setUp({
      levels,
      policy: { expiration_date: { type: "CUSTOM", extend: "P1Y" } },
    });
    await club.offer();
    const { data } = await rewards.listLoyaltyRewards({ campaignId: club.campaignId }, club.call);
    const [bronze] = club.created;
    await loyalty.tiers.updateLoyaltyTier(
      {
        campaignId: club.campaignId,
        tierId: bronze!.id,
        rewards: { [data[0]!.id]: { type: "CUSTOM", points: 60n } },
        updateMask: { paths: ["rewards"] },
      },
      club.call,
    );
    await club.deliver();
    await club.move(club.cardId, 125n);
    expect(await club.holds()).toMatchObject([{ points: 120n, quantity: 2n }]);
    expect(club.changes.map((change) => change.split(" ").slice(1, 3).join(" "))).toEqual([
      "joined Bronze",
    ]);
  });

  test("pending points that become active at night buy rewards before they reach a tier", async () => {
    const club = await setUp({ levels: [SILVER] });
    await club.offer();
    await earningRules.createEarningRules(
      {
        campaignId: club.campaignId,
        rules: [
          {
            event: "order.paid",
            loyalty: { type: "FIXED", points: 150n },
            pendingPoints: { periodType: "DAY", periodValue: 1n },
          },
        ],
      },
      club.call,
    );
    await earn([club.paid(club.customerId, 1n, NOON)]);
    await club.setClock("2026-04-01");
    await claim(club);
    expect(await club.holds()).toMatchObject([{ points: 100n, status: "CONFIRMED" }]);
    expect(club.changes).toEqual([]);
    expect(await club.violations()).toEqual([]);
  });

  test("a tier is never reached in between, whichever consumer is first", async () => {
    const policy = { expiration_date: { type: "CUSTOM", extend: "P1Y" } };
    const step = fc.oneof(
      fc.integer({ min: 1, max: 300 }).map((points) => ({ kind: "credit" as const, points })),
      fc.constantFrom({ kind: "claim" as const }, { kind: "settle" as const }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 9 }), async (steps) => {
        const club = await setUp({ levels: [SILVER], policy });
        await club.offer();
        const { projectId, cardId, campaignId } = club;
        const card = { projectId, cardId, initialPoints: 0n, campaignId };
        for (const one of steps) {
          if (one.kind === "credit") {
            const points = BigInt(one.points);
            const change = { card, operationId: newId("vtx"), points };
            await cards.adjustPoints({ ...change, expirationType: "NON_EXPIRING" }, club.call);
          } else if (one.kind === "claim") await claim(club);
          else await club.deliver();
        }
        await Promise.all([club.deliver(), claim(club)]);
        await club.deliver();
        await claim(club);
        expect(club.changes).toEqual([]);
        expect(await club.violations()).toEqual([]);
      }),
      { numRuns: 12 },
    );
  });
});

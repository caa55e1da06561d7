import { newId } from "@scrip/ids";
import { LoyaltyTiersChangedSchema } from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";
import { PointsMovedSchema } from "@scrip/proto/scrip/events/v1/points_pb";
import { afterAll, expect, test } from "vitest";

import { onMember, VOUCHERS_TOPIC } from "../src/events/on-member.ts";
import { POINTS_TOPIC } from "../src/events/topics.ts";
import { movePoints } from "../src/points/move-points.ts";
import { deliveryFrom, newEvent, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { earningIn, storeProgram } from "./earning-programs.ts";
import { SILVER, GOLD, tiersIn } from "./tier-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db } = loyalty;
const { program, consume, deps } = tiersIn(loyalty);
const { earn, join: joinProgram } = earningIn(loyalty);

type Club = Awaited<ReturnType<typeof program>>;

/** Adds points at these times, without delivering their events. */
const add = ({ projectId, campaignId }: Club, cardId: string, moves: readonly [bigint, number][]) =>
  db.transaction((tx) =>
    movePoints(
      tx,
      deps,
      moves.map(([points, at]) => ({
        card: { projectId, cardId, initialPoints: 0n, campaignId },
        type: "POINTS_ADDITION",
        points,
        cause: newId("vtx"),
        at,
        expiredBefore: "2026-03-01",
      })),
    ),
  );

test("a card that is published after it received points joins the tier of each balance, in order", async () => {
  const club = await program([SILVER, GOLD]);
  const customerId = await club.newCustomer();
  const cardId = newId("v");
  await add(club, cardId, [[20n, NOON - 1_000]]);
  await add(club, cardId, [[100n, NOON]]);
  await add(club, cardId, [[400n, NOON]]);
  const published = club.published(customerId, { cardId, at: NOON - 500 });
  for (let times = 0; times < 2; times++) {
    await onMember(deps)([published], deliveryFrom(VOUCHERS_TOPIC));
    await club.deliver();
  }
  expect(club.changes).toEqual(["2026-03-01 joined Silver", "2026-03-01 upgraded Gold"]);
});

test("a change of a tier is never dated before the change that it follows", async () => {
  const club = await program([SILVER, GOLD]);
  const customerId = await club.newCustomer();
  const cardId = newId("v");
  await onMember(deps)([club.published(customerId, { cardId })], deliveryFrom(VOUCHERS_TOPIC));
  const moved = newEvent(
    PointsMovedSchema,
    { projectId: club.projectId, topic: POINTS_TOPIC },
    { projectId: club.projectId, cardId, campaignId: club.campaignId },
  );
  // The second entry is an accrual of an order from the day before.
  await add(club, cardId, [[100n, NOON]]);
  await add(club, cardId, [[400n, NOON - 86_400_000]]);
  await consume([moved], deliveryFrom(POINTS_TOPIC));
  await club.deliver();
  expect(club.changes).toEqual(["2026-03-01 joined Silver", "2026-03-01 upgraded Gold"]);
});

const periodOf = (period: string) => ({
  qualification_type: "POINTS_IN_PERIOD",
  qualification_period: period,
});

const setPolicy = ({ projectId, campaignId }: Club, tiersExpiration: object) =>
  storeProgram(db, { projectId, id: campaignId, tiersExpiration: { ...tiersExpiration } });

async function join(club: Club): Promise<string> {
  const cardId = newId("v");
  const published = club.published(await club.newCustomer(), { cardId });
  await onMember(deps)([published], deliveryFrom(VOUCHERS_TOPIC));
  return cardId;
}

test("points from before a program qualifies by periods count when it recalculates its tiers", async () => {
  const club = await program([SILVER]);
  const cardId = await join(club);
  await club.move(cardId, 150n);
  await club.move(cardId, -100n);
  await setPolicy(club, periodOf("MONTH"));
  const changed = newEvent(
    LoyaltyTiersChangedSchema,
    { projectId: club.projectId, topic: POINTS_TOPIC },
    { projectId: club.projectId, campaignId: club.campaignId, recalculate: true },
  );
  await consume([changed], deliveryFrom(POINTS_TOPIC));
  await club.deliver();
  expect(club.changes).toEqual([
    "2026-03-01 joined Silver",
    "2026-03-01 left Silver",
    "2026-03-01 joined Silver 2026-03-31",
  ]);
});

test("points from before the program changes its period count for the next change of points", async () => {
  const club = await program([SILVER], { policy: periodOf("MONTH") });
  const cardId = await join(club);
  await club.move(cardId, 60n);
  await club.setClock("2026-03-20");
  await setPolicy(club, periodOf("QUARTER"));
  await club.move(cardId, 39n);
  expect(club.changes).toEqual([]);
  await club.move(cardId, 1n);
  expect(club.changes).toEqual(["2026-03-20 joined Silver 2026-03-31"]);
});

test("points that become active on the night when a tier ends keep it", async () => {
  const order = { event: "order.paid", loyalty: { type: "FIXED", points: 1n } };
  const club = await program([SILVER], {
    policy: { expiration_date: { type: "CUSTOM", extend: "P1M" } },
    rules: [{ ...order, pendingPoints: { periodType: "DAY", periodValue: 32n } }],
  });
  const { cardId, customerId } = await joinProgram(club);
  await club.move(cardId, 100n);
  await club.move(cardId, -1n);
  await earn([club.paid(customerId, 100n, NOON)]);
  await club.setClock("2026-04-02");
  expect(club.changes).toEqual([
    "2026-03-01 joined Silver 2026-04-01",
    "2026-04-02 prolonged Silver 2026-05-02",
  ]);
});

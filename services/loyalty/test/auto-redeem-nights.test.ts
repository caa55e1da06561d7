import { newId } from "@scrip/ids";
import { afterAll, expect, test } from "vitest";

import { findNextAutoRedeemNight } from "../src/store/auto-redemptions.ts";
import { type AutoRedeemClub, autoRedeemIn } from "./auto-redeem-programs.ts";
import { NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { earningIn } from "./earning-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db, cards, earningRules } = loyalty;
const { earn } = earningIn(loyalty);
const { setUp } = autoRedeemIn(loyalty);

/** Adds points that can be spent up to a date. */
const add = (
  { projectId, cardId, campaignId, call }: AutoRedeemClub,
  points: bigint,
  expiresOn: string,
) =>
  cards.adjustPoints(
    {
      card: { projectId, cardId, initialPoints: 0n, campaignId },
      operationId: newId("vtx"),
      points,
      expirationType: "CUSTOM_DATE",
      expirationDate: expiresOn,
    },
    call,
  );
const nightOf = async ({ projectId }: AutoRedeemClub) => {
  const { rows } = await db.query<{ date: string; redeemed: boolean; version: string }>(
    "select date, redeemed, xmin::text as version from auto_redeem_night where project_id = $1",
    [projectId],
  );
  return rows[0];
};

test("redeems at night the points that cards had before the assignment, and the rest within a year of nights", async () => {
  const club = await setUp();
  await club.move(club.cardId, 5_000n);
  await club.offer();
  await club.setClock("2026-03-02");
  expect(await club.holds()).toMatchObject([{ quantity: 25n }]);
  await club.setClock("2026-03-02");
  expect(await club.holds()).toHaveLength(1);
  await club.setClock("2027-03-02");
  expect((await club.holds()).map(({ quantity }) => quantity)).toEqual([25n, 25n]);
  expect(await club.violations()).toEqual([]);
});

test("points that expire tonight are redeemed before, and those of the night before are not", async () => {
  const club = await setUp();
  await add(club, 150n, "2026-03-01");
  await club.offer();
  await club.setClock("2026-03-02");
  expect(await club.holds()).toMatchObject([{ points: 100n }]);
  const late = await setUp();
  await add(late, 150n, "2026-03-01");
  await late.setClock("2026-03-02");
  await late.offer();
  await late.setClock("2026-03-03");
  expect(await late.holds()).toEqual([]);
  expect(await late.violations()).toEqual([]);
});

test("points that expire in nights that a clock skips are redeemed before, with what a limit left", async () => {
  const club = await setUp();
  await add(club, 150n, "2026-03-02");
  await club.offer();
  await club.setClock("2026-03-05");
  expect(await club.holds()).toMatchObject([{ points: 100n }]);
  const rich = await setUp();
  await add(rich, 3_000n, "2026-03-04");
  await rich.offer();
  await rich.setClock("2026-03-08");
  expect((await rich.holds()).map(({ points }) => points)).toEqual([2_500n, 500n]);
  expect(await rich.violations()).toEqual([]);
});

test("nights before an assignment redeem nothing", async () => {
  const club = await setUp();
  await club.offer();
  await club.move(club.cardId, 100n);
  await club.setClock("2026-03-02");
  await db.query(
    "update auto_redeem_night set redeemed = true, date = '2026-01-10' where project_id = $1",
    [club.projectId],
  );
  await club.move(club.cardId, 10_000n);
  const before = (await club.holds()).length;
  await db.query("delete from auto_redemption where project_id = $1", [club.projectId]);
  await club.setClock("2026-03-03");
  const { rows } = await db.query<{ early: bigint }>(
    "select count(*) as early from points_spend where project_id = $1 and at < '2026-03-01'",
    [club.projectId],
  );
  expect(rows).toEqual([{ early: 0n }]);
  expect((await club.holds()).length).toBeGreaterThan(before);
});

test.each([
  ["+02:00", "2026-03-05T22:00:00Z", "2026-03-07"],
  ["-03:30", "2026-03-06T03:29:59Z", "2026-03-06"],
  ["VST", "2026-03-05T17:00:00Z", "2026-03-07"],
])("the first night in %s follows the date of an assignment at %s", async (timeZone, at, night) => {
  const { projectId, offer } = await setUp();
  await offer();
  await db.query("delete from auto_redeem_night where project_id = $1", [projectId]);
  await db.query("update project set time_zone = $2 where project_id = $1", [projectId, timeZone]);
  await db.query(
    "update reward_assignment set created_at = $2, updated_at = null where project_id = $1",
    [projectId, new Date(at)],
  );
  expect(await findNextAutoRedeemNight(db, projectId, "2026-06-01")).toBe(night);
});

test("points that become active are redeemed together with points that expire tonight", async () => {
  const club = await setUp();
  await club.offer();
  const pendingPoints = { periodType: "DAY", periodValue: 1n };
  await earningRules.createEarningRules(
    {
      campaignId: club.campaignId,
      rules: [{ event: "order.paid", loyalty: { type: "FIXED", points: 60n }, pendingPoints }],
    },
    club.call,
  );
  await earn([club.paid(club.customerId, 1n, NOON)]);
  await add(club, 40n, "2026-03-01");
  await club.setClock("2026-03-02");
  expect(await club.holds()).toMatchObject([{ points: 100n }]);
  expect(await club.violations()).toEqual([]);
});

test("a night that runs during its day redeems at that time, once", async () => {
  const club = await setUp();
  await club.move(club.cardId, 100n);
  await club.offer();
  await club.setClock("2026-03-01");
  const { rows } = await db.query<{ at: Date }>(
    "select at from points_spend where project_id = $1",
    [club.projectId],
  );
  expect(rows).toEqual([{ at: new Date(NOON) }]);
  const before = await nightOf(club);
  expect(before).toMatchObject({ date: "2026-03-01", redeemed: true });
  await add(club, 10n, "2026-03-01");
  await club.setClock("2026-03-01");
  expect(await nightOf(club)).toEqual(before);
});

test("a clock that is set back does not stop the nights after it", async () => {
  const club = await setUp();
  await club.offer();
  await club.setClock("2027-01-01");
  await club.setClock("2026-03-05");
  expect(await nightOf(club)).toMatchObject({ date: "2026-03-05", redeemed: false });
  await club.setClock("2026-03-06");
  expect(await nightOf(club)).toMatchObject({ date: "2026-03-06" });
});

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { DeliveredEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import {
  ReferralConvertedSchema,
  ReferralRewardedSchema,
} from "@scrip/proto/scrip/events/v1/referrals_pb";
import { afterAll, expect, test } from "vitest";

import { onReferral, REFERRALS_TOPIC } from "../src/events/on-referral.ts";
import { deleteCustomer, upsertCustomer } from "../src/store/customers.ts";
import { findReferralFigures } from "../src/store/referrals.ts";
import { deliveryFrom, newEvent, newLoyaltyCard, newSubject, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db } = loyalty;
const handler = onReferral({
  db,
  newId,
  onEvents: () => {},
  findProject: ({ projectId }) => ({
    project: { id: projectId, timeZone: "UTC", caseSensitiveCodes: true },
    sandboxNow: null,
    deleted: false,
  }),
});
const handle = (events: readonly DeliveredEvent[]): Promise<void> =>
  handler(events, deliveryFrom(REFERRALS_TOPIC));

const createReferrer = (projectId: string, sourceId = "referrer"): Promise<string> =>
  upsertCustomer(db, {
    projectId,
    newId: newId("cust"),
    sourceId,
    change: { fields: {}, metadata: {} },
    at: new Date(NOON),
  });
const figuresOf = async (projectId: string, id: string) =>
  (await findReferralFigures(db, projectId, [id])).get(id);

type Conversion = MessageInitShape<typeof ReferralConvertedSchema>;

const converted = (projectId: string, conversion: Conversion, at = NOON): DeliveredEvent =>
  newEvent(
    ReferralConvertedSchema,
    { projectId, topic: REFERRALS_TOPIC },
    {
      projectId,
      voucherId: "v_1",
      campaignId: "camp_1",
      relatedObjectType: "redemption",
      relatedObjectId: "r_1",
      date: timestampFromMs(at),
      ...conversion,
    },
  );

test("counts a referral once for each code and referee, even if events are delivered repeatedly", async () => {
  const { projectId, id: refereeId } = await newSubject(loyalty);
  const referrerId = await createReferrer(projectId);
  const between = { refereeId, referrerId };
  const events = [
    converted(projectId, between, NOON + 1),
    converted(projectId, { ...between, relatedObjectId: "r_2" }, NOON + 2),
    converted(projectId, {
      ...between,
      voucherId: "v_2",
      relatedObjectType: "event",
      relatedObjectId: "event_1",
    }),
  ];
  await handle(events);
  await Promise.all([handle([...events, ...events]), handle(events.toReversed())]);
  const referral = { referrerId, campaignId: "camp_1" };
  expect(await figuresOf(projectId, refereeId)).toEqual({
    referrals: [
      { ...referral, relatedObject: { type: "event", id: "event_1" }, at: new Date(NOON) },
      { ...referral, relatedObject: { type: "redemption", id: "r_1" }, at: new Date(NOON + 1) },
    ],
    referredCustomers: 0n,
    referredByCampaign: {},
  });
  expect(await figuresOf(projectId, referrerId)).toEqual({
    referrals: [],
    referredCustomers: 1n,
    referredByCampaign: { camp_1: 1n },
  });
});

test("counts no referral of a deleted referrer, and deletes those of a deleted referee", async () => {
  const { projectId, id: refereeId } = await newSubject(loyalty);
  const referrerId = await createReferrer(projectId);
  const deleted = await createReferrer(projectId, "deleted");
  await deleteCustomer(db, projectId, deleted);
  await handle([
    converted(projectId, { refereeId, referrerId: deleted }),
    converted(projectId, { refereeId, referrerId, voucherId: "v_2" }),
  ]);
  const { referrals } = (await figuresOf(projectId, refereeId))!;
  expect(referrals.map((referral) => referral.referrerId)).toEqual([referrerId]);
  await deleteCustomer(db, projectId, refereeId);
  expect((await figuresOf(projectId, referrerId))?.referredCustomers).toBe(0n);
});

test("adds the points of a reward once, however often and concurrently its event is delivered", async () => {
  const card = newLoyaltyCard(loyalty, 5n);
  const rewarded = (rewardKey: string): DeliveredEvent =>
    newEvent(
      ReferralRewardedSchema,
      { projectId: card.projectId, topic: REFERRALS_TOPIC },
      {
        projectId: card.projectId,
        voucherId: card.cardId,
        rewardKey,
        points: 10n,
        initialPoints: 5n,
        date: timestampFromMs(NOON),
      },
    );
  const events = [rewarded("one"), rewarded("two"), rewarded("one")];
  await Promise.all([handle(events), handle(events), handle(events)]);
  expect(await card.ledger()).toEqual([
    ["POINTS_ADDITION", 10n, 15n],
    ["POINTS_ADDITION", 10n, 25n],
  ]);
  expect(await card.balances()).toMatchObject({ points: 25n, balance: 25n });
  expect(await card.violations()).toEqual([]);
});

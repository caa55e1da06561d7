import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, originHeaders } from "@scrip/events";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { LoyaltyTierChangedSchema } from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";
import { PointsMovedSchema } from "@scrip/proto/scrip/events/v1/points_pb";
import { RewardCompletedSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { VoucherPublishedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";
import { ActivityService } from "@scrip/proto/scrip/loyalty/v1/activities_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { onActivity } from "../src/events/on-activity.ts";
import { onMember, VOUCHERS_TOPIC } from "../src/events/on-member.ts";
import { REDEMPTIONS_TOPIC } from "../src/events/on-redemption.ts";
import { CUSTOMERS_TOPIC, POINTS_TOPIC } from "../src/events/topics.ts";
import { routes } from "../src/routes.ts";
import { deliveryFrom, newCall, newEvent, newSubject, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db } = loyalty;
const deps = createDeps(db);
const activities = clientOf(ActivityService, createDirectTransport(routes(deps)));
const handle = (events: readonly DeliveredEvent[]): Promise<void> =>
  onActivity(db)(events, deliveryFrom(VOUCHERS_TOPIC));

/** A customer with a card, and a call in their project. */
async function newMember() {
  const ada = await newSubject(loyalty);
  const { projectId, id: customerId } = ada;
  const call = newCall({ project: { id: projectId, timeZone: "UTC", caseSensitiveCodes: true } });
  const joined = newEvent(
    VoucherPublishedSchema,
    { projectId, topic: VOUCHERS_TOPIC },
    {
      projectId,
      voucherId: "v_card",
      campaignId: "camp_1",
      campaignType: "LOYALTY_PROGRAM",
      customerId,
      publicationId: "pub_1",
      loyaltyPoints: 10n,
      date: { seconds: BigInt(NOON / 1000) },
    },
  );
  await onMember(deps)([joined], deliveryFrom(VOUCHERS_TOPIC));
  const earned = (transactionId: string) =>
    newEvent(
      PointsMovedSchema,
      { projectId, topic: POINTS_TOPIC },
      { projectId, cardId: "v_card", transactionId, type: "POINTS_ACCRUAL", points: 5n },
    );
  const list = async (filter: object = {}) => {
    const { data } = await activities.listCustomerActivities(
      { customerId: "ada", limit: 20n, ...filter },
      call,
    );
    return data.map(({ type }) => type.replace("customer.", ""));
  };
  return { ...ada, call, joined, earned, list };
}

/** Events in the order of their times. */
const inOrder = (events: readonly DeliveredEvent[]): DeliveredEvent[] =>
  events.map((event, index) => ({ ...event, occurredAt: new Date(NOON + index) }));

test("lists what a customer did and what happened to them once, filtered and page by page", async () => {
  const ada = await newMember();
  const order = {
    id: "ord_1",
    amount: 900n,
    customerId: ada.id,
    status: OrderStatus.PAID,
    items: [{ productId: "prod_1" }],
  };
  const events = inOrder([
    ada.joined,
    ada.redeemed({ voucherId: "v_1", campaignId: "camp_2", order }, NOON + 1),
    ada.redeemed(
      { voucherId: "v_card", points: 3n, rewardId: "rew_1", customerId: undefined },
      NOON + 2,
    ),
    ada.rolledBack({ voucherId: "v_1" }, NOON + 3),
    ada.failed(),
    ada.paid(order, NOON + 5),
    ada.earned("vtx_1"),
  ]);
  await handle(events);
  await handle([...events, ...events]);
  const types = [
    "rewarded.loyalty_points",
    "voucher.loyalty_card.points_added",
    "order.paid",
    "redemption.failed",
    "redemption.rollback.succeeded",
    "reward_redemptions.completed",
    "reward_redemptions.created",
    "redemption.succeeded",
    "redemption.succeeded",
    "holder.assignment.created",
    "publication.succeeded",
  ];
  expect(await ada.list()).toEqual(types);
  expect(await ada.list({ order: "created_at" })).toEqual(types.toReversed());
  const effects = [0, 1, 5, 6, 9, 10].map((index) => types[index]);
  expect(await ada.list({ category: "EFFECT" })).toEqual(effects);
  expect(await ada.list({ category: "ACTION" })).toEqual(
    types.filter((_, index) => ![0, 1, 5, 6, 9, 10].includes(index)),
  );
  expect(await ada.list({ campaignType: "LOYALTY_PROGRAM" })).toEqual(types.slice(9));
  expect(await ada.list({ campaignId: "camp_2" })).toEqual(["redemption.succeeded"]);
  expect(await ada.list({ productId: "prod_1" })).toEqual(["order.paid", "redemption.succeeded"]);
  expect(await ada.list({ type: "customer.order.paid" })).toEqual(["order.paid"]);
  expect(await ada.list({ rewardId: "rew_1" })).toEqual(types.slice(5, 8));
  expect(await ada.list({ rewardId: "rew_2" })).toEqual([]);
  const start = { seconds: BigInt(NOON / 1000), nanos: 5_000_000 };
  expect(await ada.list({ startDate: start, type: "customer.order.paid" })).toHaveLength(1);
  expect(await ada.list({ endDate: start, category: "ACTION" })).toHaveLength(5);

  const page = await activities.listCustomerActivities({ customerId: ada.id, limit: 4n }, ada.call);
  expect(page).toMatchObject({ hasMore: true, moreStartingAfter: page.data[3]?.id });
  expect(page.data[0]).toMatchObject({
    id: expect.stringMatching(/^evcus_[0-9a-f]{18}$/),
    category: "EFFECT",
    data: { voucher: { id: "v_card" }, transaction: { id: "vtx_1", points: 5 } },
  });
  const { data: redemptions } = await activities.listCustomerActivities(
    { customerId: ada.id, productId: "prod_1", order: "created_at" },
    ada.call,
  );
  expect(redemptions[0]?.data).toEqual({
    redemption: { id: expect.stringMatching(/^r_/), object: "redemption" },
    voucher: { id: "v_1", object: "voucher" },
    campaign: { id: "camp_2", object: "campaign", campaign_type: "DISCOUNT_COUPONS" },
    order: { id: "ord_1", object: "order", amount: 900, product_ids: ["prod_1"] },
  });
  const startingAfterId = page.moreStartingAfter ?? "";
  expect(await ada.list({ startingAfterId })).toEqual(types.slice(4));
});

test("lists activities by the time of their cause, and what follows from it after it, however late it is delivered", async () => {
  const ada = await newMember();
  const { projectId, id: customerId } = ada;
  const dated = (ms: number) => timestampFromMs(NOON + ms);
  const card = { projectId, cardId: "v_card", campaignId: "camp_1" };
  const changed = (change: string, ms: number) =>
    newEvent(
      LoyaltyTierChangedSchema,
      { projectId, topic: CUSTOMERS_TOPIC },
      { ...card, customerId, change, date: dated(ms) },
    );
  const moved = (points: bigint, ms: number) =>
    newEvent(
      PointsMovedSchema,
      { projectId, topic: POINTS_TOPIC },
      { ...card, transactionId: "vtx_1", type: "POINTS_ADDITION", points, date: dated(ms) },
    );
  // Tiers are evaluated after all points were moved, and their events are delivered together.
  const tiers = [changed("joined", 10), changed("upgraded", 20), changed("left", 30)];
  const points = [moved(50n, 10), moved(60n, 20), moved(-110n, 30)];
  const occurredAt = new Date(NOON + 100);
  await handle([...tiers, ...points].map((event) => ({ ...event, occurredAt })));
  const expected = [
    "voucher.loyalty_card.points_added",
    "loyalty.tier.joined",
    "voucher.loyalty_card.points_added",
    "loyalty.tier.upgraded",
    "voucher.loyalty_card.points_added",
    "loyalty.tier.left",
  ];
  expect(await ada.list({ order: "created_at" })).toEqual(expected);
  const page = await activities.listCustomerActivities(
    { customerId, order: "created_at", limit: 3n },
    ada.call,
  );
  const after = { order: "created_at", startingAfterId: page.moreStartingAfter ?? "" };
  expect(await ada.list(after)).toEqual(expected.slice(3));
});

test("lists a reward as pending until it is given", async () => {
  const ada = await newMember();
  const reward = { voucherId: "v_card", rewardId: "rew_1", redemptionId: "r_1" };
  const given = { ...reward, projectId: ada.projectId, customerId: ada.id };
  const about = { projectId: ada.projectId, topic: REDEMPTIONS_TOPIC };
  const events = inOrder([
    ada.joined,
    ada.redeemed({ ...reward, points: 3n, rewardPending: true }, NOON + 1),
    newEvent(RewardCompletedSchema, about, given),
  ]);
  await handle([...events, ...events]);
  expect(await ada.list({ rewardId: "rew_1", category: "EFFECT" })).toEqual([
    "reward_redemptions.completed",
    "reward_redemptions.pending",
    "reward_redemptions.created",
  ]);
});

test("lists the points of a card that were moved before its holder was known, and expired ones with their number", async () => {
  const ada = await newSubject(loyalty);
  const { projectId, id: customerId } = ada;
  const call = newCall({ project: { id: projectId, timeZone: "UTC", caseSensitiveCodes: true } });
  const topic = VOUCHERS_TOPIC;
  const moved = { projectId, cardId: "v_1", transactionId: "vtx_1", type: "POINTS_ADDITION" };
  await handle([newEvent(PointsMovedSchema, { projectId, topic: POINTS_TOPIC }, moved)]);
  const date = { seconds: BigInt(NOON / 1000) };
  const published = { projectId, voucherId: "v_1", customerId, loyaltyPoints: 0n, date };
  const joined = newEvent(VoucherPublishedSchema, { projectId, topic }, published);
  await onMember(deps)([joined], deliveryFrom(topic));
  expect(await activities.listCustomerActivities({ customerId }, call)).toMatchObject({
    data: [{ type: "customer.voucher.loyalty_card.points_added" }],
  });
  const expired = {
    ...moved,
    transactionId: "vtx_2",
    type: "POINTS_EXPIRATION",
    points: -3n,
    buckets: [{ id: "lopb_1", points: 3n, expiresOn: "2026-01-31" }],
  };
  await handle([newEvent(PointsMovedSchema, { projectId, topic: POINTS_TOPIC }, expired)]);
  const type = "customer.voucher.loyalty_card.points_expired";
  expect(await activities.listCustomerActivities({ customerId, type }, call)).toMatchObject({
    data: [
      {
        type,
        data: {
          points: 3,
          buckets: [{ id: "lopb_1", bucket: { total_points: 3 }, expires_at: "2026-01-31" }],
        },
      },
    ],
  });
});

test("lists the activities of a card under its program, by id and name", async () => {
  const ada = await newMember();
  await handle(inOrder([ada.joined, ada.redeemed({ voucherId: "v_1" }), ada.earned("vtx_1")]));
  const voucher = {
    id: "v_card",
    code: "CARD",
    isLoyaltyCard: true,
    campaignId: "camp_1",
    holderId: ada.id,
  };
  const list = (request: object) =>
    activities.listMemberActivities({ memberId: "CARD", voucher, ...request }, ada.call);
  const { data, hasMore } = await list({ campaignId: "camp_1" });
  expect(hasMore).toBe(false);
  expect(data.map(({ type }) => type)).toEqual([
    "customer.rewarded.loyalty_points",
    "customer.voucher.loyalty_card.points_added",
    "customer.publication.succeeded",
  ]);
  expect((await list({ limit: 1n })).hasMore).toBe(true);
  const later = { createdAt: { after: timestampFromMs(NOON + 86_400_000) } };
  expect((await list(later)).data).toEqual([]);
  expect((await list({ createdAt: { before: later.createdAt.after } })).data).toHaveLength(3);
  for (const request of [
    { campaignId: "other" },
    { voucher: { ...voucher, isLoyaltyCard: false } },
  ])
    await expect(list(request)).rejects.toMatchObject({ key: "not_found" });
});

test("lists activities that processes of an earlier release stored, each once", async () => {
  const ada = await newMember();
  const order = { id: "ord_1", amount: 900n, customerId: ada.id, status: OrderStatus.PAID };
  const bought = { ...order, items: [{ productId: "prod_1" }] };
  await handle(
    inOrder([
      ada.joined,
      ada.redeemed({ voucherId: "v_1", campaignId: "camp_2", order: bought }, NOON + 1),
      ada.redeemed({ voucherId: "v_1", points: 3n, rewardId: "rew_1" }, NOON + 2),
      ada.paid(order, NOON + 3),
    ]),
  );
  const list = async (filter: object = {}) =>
    (await activities.listCustomerActivities({ customerId: ada.id, ...filter }, ada.call)).data;
  const filters = [
    {},
    { order: "created_at" },
    { campaignId: "camp_2" },
    { campaignType: "LOYALTY_PROGRAM" },
    { rewardId: "rew_1" },
    { productId: "prod_1" },
    { type: "customer.order.paid" },
    { category: "ACTION" },
  ];
  const expected = await Promise.all(filters.map(list));
  expect(expected.map(({ length }) => length)).toEqual([7, 7, 1, 2, 3, 1, 1, 3]);
  expect(expected[0]?.[0]?.data).toEqual({
    order: { id: "ord_1", object: "order", amount: 900, product_ids: [] },
  });

  for (const { id, type, data, groupId } of expected[0] ?? []) {
    await db.query(
      `insert into activity (project_id, owner_id, id, type, group_id, data, created_at, occurred_at)
       select project_id, $6, $2, $3, $4, $5, created_at, occurred_at
         from customer_activity
        where project_id = $1 and 'evcus_' || encode(id, 'hex') = $2`,
      [ada.projectId, id, type, groupId, JSON.stringify(data), ada.id],
    );
  }
  // All of them in both tables, then some in each, then all in the earlier one.
  for (const type of ["none", "order.paid", "redemption.succeeded", "publication.succeeded"]) {
    await db.query("delete from customer_activity where project_id = $1 and type = $2", [
      ada.projectId,
      type,
    ]);
    expect(await Promise.all(filters.map(list))).toEqual(expected);
    const [first, ...others] = expected[0] ?? [];
    expect(await list({ startingAfterId: first?.id })).toEqual(others);
    expect(await list({ limit: 2n })).toEqual(expected[0]?.slice(0, 2));
  }
  expect(await list({ startingAfterId: "evcus_x", limit: 1n })).toEqual(expected[0]?.slice(0, 1));
});

test("groups what one request caused by its id, in nine bytes, and other events by their own", async () => {
  const ada = await newMember();
  const requestIds = ["v-019aa8f3c2d1000001", "v-7fffffffffffffffff", "v-8_a_foreign_id"];
  const caused = requestIds.map((requestId, index) => ({
    ...ada.redeemed({}, NOON + index),
    headers: originHeaders({ requestId, caller: { side: "server", id: "app_1" } }),
  }));
  const foreign = { ...ada.redeemed({}, NOON + 3), id: "event_8000000000000000ff" };
  const plain = ada.redeemed({}, NOON + 4);
  await handle(inOrder([...caused, foreign, plain]));
  const { data } = await activities.listCustomerActivities(
    { customerId: ada.id, order: "created_at" },
    ada.call,
  );
  expect(data.map(({ groupId }) => groupId)).toEqual([...requestIds, foreign.id, plain.id]);
  const { rows } = await db.query<{ bytes: number }>(
    "select length(group_id) as bytes from customer_activity where project_id = $1 order by id",
    [ada.projectId],
  );
  expect(rows.map(({ bytes }) => bytes)).toEqual([9, 9, 17, 25, 9]);
});

test("deletes activities with their customer, and stores none of unknown ones", async () => {
  const ada = await newMember();
  await handle([ada.redeemed({})]);
  await loyalty.customers.deleteCustomer({ customerId: "ada" }, ada.call);
  await expect(ada.list()).rejects.toMatchObject({ key: "not_found" });
  const deleted = newEvent(
    CustomerDeletedSchema,
    { projectId: ada.projectId, topic: CUSTOMERS_TOPIC },
    { projectId: ada.projectId, customerId: ada.id },
  );
  await handle([ada.redeemed({}), ada.redeemed({ customerId: "cust_none" }), deleted]);
  const { rows } = await db.query(
    `select from customer_activity where project_id = $1
      union all
     select from activity where project_id = $1`,
    [ada.projectId],
  );
  expect(rows).toEqual([]);
});

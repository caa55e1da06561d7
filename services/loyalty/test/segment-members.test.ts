import { fromBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { DeliveredEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { SegmentEnteredSchema, SegmentLeftSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import { PointsMovedSchema } from "@scrip/proto/scrip/events/v1/points_pb";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { afterAll, describe, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { onOrderChanged, ORDERS_TOPIC } from "../src/events/on-order-changed.ts";
import { onPointsMoved } from "../src/events/on-points-moved.ts";
import { onRedemption, REDEMPTIONS_TOPIC } from "../src/events/on-redemption.ts";
import { CUSTOMERS_TOPIC, POINTS_TOPIC } from "../src/events/topics.ts";
import { followSegments } from "../src/segment/follow-segments.ts";
import { insertSegmentMembers } from "../src/store/segment-members.ts";
import { deliveryFrom, newEvent, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { earningIn, storeProgram } from "./earning-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { customers, db, earningRules, imports, segments } = loyalty;
const { earn, publish, setUp } = earningIn(loyalty);
const deps = createDeps(db);

const GOLD = { "metadata.level": { conditions: { $is: ["gold"] } } };
const gold = { metadata: { level: "gold" } };
const plain = { metadata: { level: "plain" } };
const FIXED = { type: "FIXED", points: 10n };
const UNRELATED = { event: "unrelated", loyalty: FIXED };

/** Evaluates all changes, as the job of the service does. */
const follow = async (): Promise<void> => {
  while (await followSegments(deps)) {
    // There may be more.
  }
};

/** A program in a project of its own, whose rules wait for customers who enter a segment. */
async function startProgram(filter: Readonly<Record<string, unknown>> = GOLD, type = "passive") {
  const program = await setUp([UNRELATED]);
  const { call, campaignId, projectId } = program;
  const segment = await segments.createSegment({ name: "Gold", type, filter } as never, call);
  const entered: string[] = [];
  return {
    ...program,
    segmentId: segment.id,
    entered,
    create: async (fields: object = plain): Promise<string> =>
      (await customers.createCustomer({ sourceId: newId("cust"), ...fields }, call)).id,
    update: (customerId: string, fields: object) =>
      customers.updateCustomer({ customerId, ...fields }, call),
    addRule: async (): Promise<string> => {
      const rule = {
        event: "customer.segment.entered",
        segment: { id: segment.id },
        loyalty: FIXED,
      };
      const created = await earningRules.createEarningRules({ campaignId, rules: [rule] }, call);
      return created.rules[0]?.id ?? "";
    },
    deleteRule: (earningRuleId: string) =>
      earningRules.deleteEarningRule({ campaignId, earningRuleId }, call),
    segment: () => segments.getSegment({ segmentId: segment.id }, call),
    /** Evaluates and delivers; returns who entered the segment since the last call. */
    deliver: async (): Promise<readonly string[]> => {
      await follow();
      const { rows } = await db.query<{
        id: string;
        topic: string;
        key: string;
        type: string;
        payload: Uint8Array;
      }>(
        `delete from outbox where project_id = $1 and type = $2
         returning id, topic, key, type, payload`,
        [projectId, SegmentEnteredSchema.typeName],
      );
      const events = rows.map((row): DeliveredEvent => ({
        ...row,
        projectId,
        headers: {},
        occurredAt: new Date(NOON),
        partition: 0,
        offset: 0n,
      }));
      await earn(events);
      await earn(events);
      const messages = events.map(({ payload }) => fromBinary(SegmentEnteredSchema, payload));
      expect(messages.every(({ segmentId }) => segmentId === segment.id)).toBe(true);
      expect(events.every(({ topic }) => topic === CUSTOMERS_TOPIC)).toBe(true);
      return messages.map(({ customerId }) => customerId).toSorted();
    },
    left: async (): Promise<readonly string[]> => {
      const { rows } = await db.query<{ payload: Uint8Array }>(
        "delete from outbox where project_id = $1 and type = $2 returning payload",
        [projectId, SegmentLeftSchema.typeName],
      );
      return rows.map(({ payload }) => fromBinary(SegmentLeftSchema, payload).customerId);
    },
    points: async () => (await program.ledger()).map(({ card_id, points }) => [card_id, points]),
  };
}

describe("a segment that triggers an earning rule", () => {
  test("is entered when the program of a card arrives after the card", async () => {
    const enough = { conditions: { $more_than: [5] } };
    const program = await startProgram({ "loyalty_points.campaigns.Late.points": enough });
    const late = newId("camp");
    const ada = await program.create();
    await program.addRule();
    await program.deliver();
    await publish([program.published(ada, { program: late, loyaltyPoints: 10n })]);
    expect(await program.deliver()).toEqual([]);
    await storeProgram(db, { projectId: program.projectId, id: late, name: "Late" });
    expect(await program.deliver()).toEqual([ada]);
  });

  test("reports customers who enter it, also again after they left, but no earlier members", async () => {
    const program = await startProgram();
    const before = await program.create(gold);
    const ada = await program.create();
    await publish([program.published(before), program.published(ada, { cardId: "v_ada" })]);
    await program.addRule();
    expect(await program.segment()).toMatchObject({
      type: "auto-update",
      initialSyncStatus: "IN_PROGRESS",
    });
    expect(await program.deliver()).toEqual([]);
    expect(await program.segment()).toMatchObject({ initialSyncStatus: "DONE" });

    await program.update(before, { name: "Bob" });
    await program.update(ada, { name: "Ada" });
    expect(await program.deliver()).toEqual([]);
    await program.update(ada, gold);
    await program.update(ada, { name: "Ada L." });
    expect(await program.deliver()).toEqual([ada]);
    expect(await program.points()).toEqual([["v_ada", 10n]]);
    expect((await program.ledger())[0]?.["details"]).toMatchObject({
      segment: { id: program.segmentId },
      event: { type: "customer.segment.entered" },
    });

    expect(await program.left()).toEqual([]);
    await program.update(ada, plain);
    expect(await program.deliver()).toEqual([]);
    expect(await program.left()).toEqual([ada]);
    await program.update(ada, gold);
    expect(await program.deliver()).toEqual([ada]);
    expect(await program.points()).toEqual([
      ["v_ada", 10n],
      ["v_ada", 10n],
    ]);
    expect(await program.violations()).toEqual([]);
  });

  test("is entered by customers who are created, imported or resolved by a redemption", async () => {
    const program = await startProgram();
    await program.addRule();
    await program.deliver();
    const { call, projectId } = program;
    const created = await program.create(gold);
    await imports.importCustomers({ items: [{ sourceId: "csv", ...gold }] }, call);
    const query = { projectId, upsert: true, customer: { sourceId: "buyer", ...gold } };
    await customers.resolveCustomers({ queries: [query] }, call);
    const all = await customers.listCustomers({}, call);
    expect(all.customers).toHaveLength(3);
    expect(await program.deliver()).toEqual(all.customers.map(({ id }) => id).toSorted());
    expect(all.customers.map(({ id }) => id)).toContain(created);
  });

  test("is entered by what a customer orders and redeems", async () => {
    const program = await startProgram({
      "summary.orders.total_amount": { conditions: { $more_than: [999] } },
      "summary.redemptions.total_redeemed": { conditions: { $more_than: [0] } },
      junction: "and",
    });
    await program.addRule();
    const customerId = await program.create();
    await program.deliver();
    const order = { id: newId("ord"), customerId, amount: 1_000n, status: OrderStatus.PAID };
    await onOrderChanged(db)([program.paid(customerId, 1_000n)], deliveryFrom(ORDERS_TOPIC));
    expect(await program.deliver()).toEqual([]);
    const { projectId } = program;
    const redeemed = newEvent(
      RedemptionMadeSchema,
      { projectId, topic: REDEMPTIONS_TOPIC },
      { projectId, redemptionId: newId("r"), customerId, order, date: timestampFromMs(NOON) },
    );
    await onRedemption(db)([redeemed], deliveryFrom(REDEMPTIONS_TOPIC));
    expect(await program.deliver()).toEqual([customerId]);
  });

  test("is entered by customers who earn points or send custom events", async () => {
    const { customEvents } = loyalty;
    const visits = await startProgram({ "events.visit.count": { conditions: { $is: [2] } } });
    await visits.addRule();
    const ada = await visits.create();
    await visits.deliver();
    const visit = () =>
      customEvents.createCustomEvent({ event: "visit", customer: { id: ada } }, visits.call);
    await visit();
    expect(await visits.deliver()).toEqual([]);
    await visit();
    expect(await visits.deliver()).toEqual([ada]);

    const rich = await startProgram({ "loyalty.points": { conditions: { $more_than: [9] } } });
    await rich.addRule();
    const bob = await rich.create();
    await publish([rich.published(bob, { cardId: "v_bob" })]);
    expect(await rich.deliver()).toEqual([]);
    const { projectId } = rich;
    await db.query(
      `insert into loyalty_card (project_id, id, points, balance, opened_at) values ($1, 'v_bob', 10, 10, now())`,
      [projectId],
    );
    const moved = newEvent(
      PointsMovedSchema,
      { projectId, topic: POINTS_TOPIC },
      { projectId, cardId: "v_bob", transactionId: "vtx_1", type: "POINTS_ADDITION", points: 10n },
    );
    await onPointsMoved(deps)([moved], deliveryFrom(POINTS_TOPIC));
    expect(await rich.deliver()).toEqual([bob]);
  });

  test("a customer leaves it when their order is assigned to another customer", async () => {
    const program = await startProgram({
      "summary.orders.total_amount": { conditions: { $more_than: [999] } },
    });
    await program.addRule();
    const [ada, bob, cid] = [
      await program.create(),
      await program.create(),
      await program.create(),
    ];
    await program.deliver();
    const id = newId("ord");
    const { projectId } = program;
    const pay = (customerId: string, at: number) =>
      onOrderChanged(db)(
        [
          newEvent(
            OrderPaidSchema,
            { projectId, topic: ORDERS_TOPIC },
            {
              projectId,
              order: { id, customerId, amount: 1_000n, status: OrderStatus.PAID },
              date: timestampFromMs(NOON + at),
            },
          ),
        ],
        deliveryFrom(ORDERS_TOPIC),
      );
    await pay(ada, 0);
    expect(await program.deliver()).toEqual([ada]);
    await pay(bob, 1);
    expect(await program.deliver()).toEqual([bob]);
    expect(await program.left()).toEqual([ada]);
    await pay(bob, 2);
    await pay(cid, 3);
    await pay(ada, 4);
    expect(await program.deliver()).toEqual([ada]);
    expect(await program.left()).toEqual([bob]);
  });

  test("reports each customer once when several processes evaluate concurrent changes", async () => {
    const program = await startProgram();
    await program.addRule();
    await program.deliver();
    const ids = await Promise.all(Array.from({ length: 12 }, () => program.create()));
    await Promise.all(
      ids.flatMap((id) => [
        program.update(id, gold),
        program.update(id, { name: "Ada" }),
        followSegments(deps),
        program.update(id, { phone: "1" }),
        followSegments(deps),
      ]),
    );
    expect(await program.deliver()).toEqual(ids.toSorted());
    expect(await program.deliver()).toEqual([]);
  });

  test("stores its members in slices, including customers who enter it concurrently", async () => {
    const program = await startProgram();
    const items = Array.from({ length: 450 }, (_, n) => ({ sourceId: `c_${n}`, ...gold }));
    await imports.importCustomers({ items }, program.call);
    const late = await program.create();
    await program.addRule();
    await followSegments(deps);
    expect(await program.segment()).toMatchObject({ initialSyncStatus: "IN_PROGRESS" });
    await program.update(late, gold);
    expect(await program.deliver()).toEqual([]);
    expect(await program.segment()).toMatchObject({ initialSyncStatus: "DONE" });
    const { rows } = await db.query("select count(*) from segment_member where project_id = $1", [
      program.projectId,
    ]);
    expect(rows).toEqual([{ count: 451n }]);
  });

  test("is followed from its creation as auto-update, and after its last rule is deleted", async () => {
    const created = await startProgram(GOLD, "auto-update");
    expect(await created.segment()).toMatchObject({ initialSyncStatus: "IN_PROGRESS" });
    await created.deliver();
    const member = await created.create(gold);
    expect(await created.deliver()).toEqual([member]);

    const program = await startProgram();
    const rule = await program.addRule();
    await program.deliver();
    await program.deleteRule(rule);
    expect(await program.segment()).toMatchObject({ type: "auto-update" });
    const ada = await program.create(gold);
    expect(await program.deliver()).toEqual([ada]);
    expect(await program.points()).toEqual([]);
  });

  test("keeps its members while its filter is one that only newer processes can read", async () => {
    const program = await startProgram();
    await program.addRule();
    await program.deliver();
    const ada = await program.create(gold);
    expect(await program.deliver()).toEqual([ada]);
    const setFilter = (filter: object) =>
      db.query("update segment set filter = $2 where project_id = $1", [
        program.projectId,
        JSON.stringify(filter),
      ]);
    await setFilter({ "metadata.level": { conditions: { $newer: ["gold"] } } });
    await program.update(ada, { name: "Ada" });
    expect(await program.deliver()).toEqual([]);
    await setFilter(GOLD);
    await program.update(ada, { name: "Ada L." });
    expect(await program.deliver()).toEqual([]);
  });

  test("reports no customers who are listed in a static segment", async () => {
    const program = await setUp([UNRELATED]);
    const { call, campaignId } = program;
    const { id: customerId } = await customers.createCustomer({ sourceId: "ada" }, call);
    const segment = { name: "Listed", type: "static", customers: [customerId] };
    const { id } = await segments.createSegment(segment, call);
    const rule = { event: "customer.segment.entered", segment: { id }, loyalty: FIXED };
    await earningRules.createEarningRules({ campaignId, rules: [rule] }, call);
    await customers.updateCustomer({ customerId, name: "Ada" }, call);
    await follow();
    const { rows } = await db.query("select from outbox where project_id = $1 and type = $2", [
      call.project.id,
      SegmentEnteredSchema.typeName,
    ]);
    expect(rows).toEqual([]);
    expect(await segments.getSegment({ segmentId: id }, call)).toMatchObject({ type: "static" });
  });

  test("is deleted immediately, and its members later in chunks, together with changes of customers", async () => {
    const program = await startProgram(GOLD, "auto-update");
    const { call, projectId, segmentId } = program;
    const items = Array.from({ length: 4_100 }, (_, n) => ({ sourceId: `c_${n}`, ...gold }));
    await imports.importCustomers({ items }, call);
    const ada = await program.create(gold);
    await program.deliver();
    const memberCount = async () => {
      const { rows } = await db.query<{ count: bigint }>(
        "select count(*) from segment_member where project_id = $1",
        [projectId],
      );
      return rows[0]?.count;
    };
    expect(await memberCount()).toBe(4_101n);

    await segments.deleteSegment({ segmentId }, call);
    await expect(program.segment()).rejects.toMatchObject({ key: "not_found" });
    expect(await memberCount()).toBe(4_101n);
    await followSegments(deps);
    expect(await memberCount()).toBe(2_101n);
    await Promise.all([
      follow(),
      follow(),
      customers.deleteCustomer({ customerId: ada }, call),
      imports.importCustomers({ items: items.slice(0, 500) }, call),
    ]);
    await follow();
    expect(await memberCount()).toBe(0n);
    expect(await program.left()).toEqual([]);
    const { rows } = await db.query("select from deleted_segment where project_id = $1", [
      projectId,
    ]);
    expect(rows).toEqual([]);
  });

  test("gets no members from an evaluation that began before it was deleted", async () => {
    const program = await startProgram(GOLD, "auto-update");
    const { call, projectId, segmentId } = program;
    const customerId = await program.create(gold);
    await follow();
    await segments.deleteSegment({ segmentId }, call);
    await follow();
    await db.transaction((tx) => insertSegmentMembers(tx, [{ projectId, segmentId, customerId }]));
    const { rows } = await db.query("select from segment_member where project_id = $1", [
      projectId,
    ]);
    expect(rows).toEqual([]);
  });

  test("queues no changes of customers in projects whose segments are passive", async () => {
    const program = await startProgram();
    await program.create(gold);
    const { rows } = await db.query("select from changed_customer where project_id = $1", [
      program.projectId,
    ]);
    expect(rows).toEqual([]);
  });
});

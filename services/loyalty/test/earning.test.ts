import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { DeliveredEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import {
  CardRequestedSchema,
  CustomEventReceivedSchema,
} from "@scrip/proto/scrip/events/v1/customers_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import { VoucherPublishedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";
import type { NewEarningRuleSchema } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { afterAll, describe, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { onEarningEvent } from "../src/events/on-earning-event.ts";
import { onMember, VOUCHERS_TOPIC } from "../src/events/on-member.ts";
import { ORDERS_TOPIC } from "../src/events/on-order-paid.ts";
import { CUSTOMERS_TOPIC } from "../src/events/topics.ts";
import { loyaltyInvariants } from "../src/store/invariants.ts";
import { savePrograms } from "../src/store/loyalty-programs.ts";
import { deliveryFrom, newCall, newEvent, NOON, violationsOf } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db, customers, earningRules } = loyalty;
const deps = createDeps(db);

const earn = (events: readonly DeliveredEvent[]) =>
  onEarningEvent(deps)(events, deliveryFrom(ORDERS_TOPIC));
const publish = (events: readonly DeliveredEvent[]) =>
  onMember(deps)(events, deliveryFrom(VOUCHERS_TOPIC));

type Rule = MessageInitShape<typeof NewEarningRuleSchema>;
const PER_EURO: Rule = {
  event: "order.paid",
  loyalty: {
    type: "PROPORTIONAL",
    calculationType: "ORDER_AMOUNT",
    order: { amount: { every: 100n, points: 1n } },
  },
};
const DAY = 86_400_000;

/** A loyalty program with rules, in a project of its own. */
async function setUp(rules: Rule[], { autoJoin = false, active = true } = {}) {
  const call = newCall();
  const projectId = call.project.id;
  const campaignId = newId("camp");
  await savePrograms(db, [
    {
      projectId,
      id: campaignId,
      name: "Club",
      active,
      autoJoin,
      validity: {
        startDate: null,
        expirationDate: null,
        timeframe: null,
        daysOfWeek: null,
        hours: null,
      },
      expirationRules: { period_type: "MONTH", period_value: 1 },
      tiersExpiration: null,
      initialPoints: 0n,
      deleted: false,
    },
  ]);
  const { rules: created } = await earningRules.createEarningRules({ campaignId, rules }, call);
  const newCustomer = async (): Promise<string> =>
    (await customers.createCustomer({ sourceId: newId("cust") }, call)).id;
  return {
    call,
    projectId,
    campaignId,
    rules: created,
    newCustomer,
    published: (customerId: string, { cardId = newId("v"), at = NOON - DAY } = {}) =>
      newEvent(
        VoucherPublishedSchema,
        { projectId, topic: VOUCHERS_TOPIC },
        {
          projectId,
          voucherId: cardId,
          campaignId,
          customerId,
          date: timestampFromMs(at),
          loyaltyPoints: 0n,
        },
      ),
    paid: (customerId: string, amount: bigint, at = NOON) =>
      newEvent(
        OrderPaidSchema,
        { projectId, topic: ORDERS_TOPIC },
        {
          projectId,
          date: timestampFromMs(at),
          order: {
            id: newId("ord"),
            sourceId: "o-1",
            customerId,
            amount,
            status: OrderStatus.PAID,
          },
        },
      ),
    happened: (customerId: string, name: string, fields: object = {}) =>
      newEvent(
        CustomEventReceivedSchema,
        { projectId, topic: CUSTOMERS_TOPIC },
        {
          projectId,
          eventId: newId("event"),
          name,
          customerId,
          date: timestampFromMs(NOON),
          ...fields,
        },
      ),
    ledger: async () => {
      const { rows } = await db.query<Record<string, unknown>>(
        `select card_id, type, points, lots, details, source from ledger_entry
          where project_id = $1 order by card_id, points, cause`,
        [projectId],
      );
      return rows;
    },
    pending: async () => {
      const { rows } = await db.query<Record<string, unknown>>(
        `select p.card_id, p.points, p.status, p.activates_on::text, c.pending_points
           from pending_points p join loyalty_card c on c.project_id = p.project_id and c.id = p.card_id
          where p.project_id = $1 order by p.id`,
        [projectId],
      );
      return rows;
    },
    requests: async () => {
      const { rows } = await db.query<{ payload: Uint8Array }>(
        "select payload from outbox where project_id = $1 and type = $2",
        [projectId, CardRequestedSchema.typeName],
      );
      return rows.map(({ payload }) => fromBinary(CardRequestedSchema, payload));
    },
    violations: () => violationsOf(db, projectId, loyaltyInvariants),
  };
}

/** A member with a card. */
async function join(program: Awaited<ReturnType<typeof setUp>>) {
  const customerId = await program.newCustomer();
  const cardId = newId("v");
  await publish([program.published(customerId, { cardId })]);
  return { customerId, cardId };
}

describe("earning points", () => {
  test("credits every rule of a paid order once, with an expiration date and what caused it", async () => {
    const program = await setUp([
      { ...PER_EURO, source: { banner: "A point per euro" } },
      { event: "order.paid", loyalty: { type: "FIXED", points: 5n } },
      { event: "order.paid", loyalty: { type: "FIXED", points: 9n }, active: false },
      { event: "viewed", loyalty: { type: "FIXED", points: 7n } },
    ]);
    const { customerId, cardId } = await join(program);
    const paid = program.paid(customerId, 1_250n);
    await earn([paid]);
    await earn([paid, paid]);
    const entry = { card_id: cardId, type: "POINTS_ACCRUAL", source: "Automation" };
    expect(await program.ledger()).toMatchObject([
      { ...entry, points: 5n },
      {
        ...entry,
        points: 12n,
        lots: { "2026-04-01": 12 },
        details: {
          order: { source_id: "o-1" },
          event: { id: paid.id, type: "customer.order.paid" },
          earning_rule: { id: program.rules[0]!.id, source: { banner: "A point per euro" } },
        },
      },
    ]);
    expect(await program.violations()).toEqual([]);
  });

  test("grants pending points once, which count on the card and nowhere else", async () => {
    const program = await setUp([
      { ...PER_EURO, pendingPoints: { periodType: "DAY", periodValue: 14n } },
    ]);
    const { customerId, cardId } = await join(program);
    const paid = program.paid(customerId, 3_000n);
    await earn([paid]);
    await earn([{ ...paid, id: newId("event") }]);
    expect(await program.pending()).toEqual([
      {
        card_id: cardId,
        points: 30n,
        status: "PENDING",
        activates_on: "2026-03-15",
        pending_points: 30n,
      },
    ]);
    expect(await program.ledger()).toEqual([]);
    // The rule changed since: the same order still grants nothing more.
    const [rule] = program.rules;
    await earningRules.updateEarningRule(
      {
        campaignId: program.campaignId,
        earningRuleId: rule!.id,
        updateMask: { paths: ["pending_points"] },
      },
      program.call,
    );
    await earn([{ ...paid, id: newId("event") }]);
    expect(await program.ledger()).toEqual([]);
  });

  test("earns for custom events, by their metadata, on the named card only, if the validation rule holds", async () => {
    const conditions = {
      rules: {
        "1": { name: "custom_event.metadata", property: "stars", conditions: { $more_than: [3] } },
      },
      changed_at: new Date(NOON).toISOString(),
    };
    const loyaltyOf = {
      type: "PROPORTIONAL",
      calculationType: "CUSTOM_EVENT_METADATA",
      customEvent: { metadata: { every: 1n, points: 10n, property: "stars" } },
    };
    const program = await setUp([
      {
        event: "reviewed",
        loyalty: loyaltyOf,
        validationRuleId: "val_1",
        validationRule: conditions,
      },
    ]);
    const { customerId, cardId } = await join(program);
    await earn([
      program.happened(customerId, "reviewed", { metadata: { stars: 5 } }),
      program.happened(customerId, "reviewed", { metadata: { stars: 2 } }),
      program.happened(customerId, "reviewed", {
        metadata: { stars: 4 },
        loyaltyCardId: "v_other",
      }),
      program.happened(customerId, "viewed", { metadata: { stars: 5 } }),
    ]);
    expect(await program.ledger()).toMatchObject([{ card_id: cardId, points: 50n }]);
  });

  test("waits for a card whose publication arrives later, and earns nothing for what came before it", async () => {
    const program = await setUp([PER_EURO]);
    const [early, late] = [await program.newCustomer(), await program.newCustomer()];
    const events = [program.paid(early, 1_000n), program.paid(late, 2_000n)];
    await earn(events);
    expect(await program.ledger()).toEqual([]);
    const cards = [
      program.published(early, { at: NOON - 1 }),
      program.published(late, { at: NOON + 1 }),
    ];
    await publish(cards);
    await publish(cards);
    await earn(events);
    expect(await program.ledger()).toMatchObject([{ points: 10n }]);
    expect(await program.requests()).toEqual([]);
  });

  test("requests a card of a program that customers join automatically, and earns when it is published", async () => {
    const program = await setUp([PER_EURO], { autoJoin: true });
    const customerId = await program.newCustomer();
    const paid = program.paid(customerId, 1_000n);
    await earn([paid]);
    await earn([paid]);
    expect(await program.requests()).toMatchObject([
      { customerId, campaignId: program.campaignId },
    ]);
    await publish([program.published(customerId, { at: NOON + DAY })]);
    await earn([program.paid(customerId, 500n)]);
    expect(await program.ledger()).toMatchObject([{ points: 5n }, { points: 10n }]);
    expect(await program.requests()).toHaveLength(1);
  });

  test("earns nothing in an inactive program, and nothing for customers who were deleted", async () => {
    const inactive = await setUp([PER_EURO], { active: false });
    const member = await join(inactive);
    await earn([inactive.paid(member.customerId, 1_000n)]);
    expect(await inactive.ledger()).toEqual([]);
    const program = await setUp([PER_EURO], { autoJoin: true });
    await earn([program.paid("cust_unknown", 1_000n)]);
    expect(await program.requests()).toEqual([]);
  });

  test("results in the same ledger, however often and in whichever order events arrive", async () => {
    const program = await setUp([
      PER_EURO,
      { ...PER_EURO, pendingPoints: { periodType: "DAY", periodValue: 2n } },
      { event: "viewed", loyalty: { type: "FIXED", points: 3n } },
    ]);
    const ids = await Promise.all(Array.from({ length: 6 }, () => program.newCustomer()));
    const cards = ids.map((id) => program.published(id));
    const events = ids.flatMap((id, index) => [
      program.paid(id, 1_000n * BigInt(index + 1)),
      program.paid(id, 333n),
      program.happened(id, "viewed"),
    ]);
    const deliveries = shuffled([...events, ...events, ...events]);
    const publications = shuffled([...cards, ...cards, ...cards]);
    // Batches of both consumers run concurrently, and overlap.
    for (let at = 0; at < deliveries.length; at += 6) {
      const batch = deliveries.slice(at, at + 6);
      await Promise.all([
        earn(batch),
        earn(batch.slice(2)),
        publish(publications.slice(at / 3, at / 3 + 2)),
      ]);
    }
    const ledger = await program.ledger();
    expect(ledger).toHaveLength(18);
    const sum = (of: readonly Record<string, unknown>[]) =>
      of.reduce((total, { points }) => total + (points as bigint), 0n);
    expect(sum(ledger)).toBe(210n + 6n * 3n + 6n * 3n);
    const pending = await program.pending();
    expect([pending.length, sum(pending)]).toEqual([12, 228n]);
    expect(await program.violations()).toEqual([]);
  });
});

/** In a fixed order without a pattern. */
const shuffled = <Item>(items: readonly Item[]): readonly Item[] =>
  items
    .map((item, index) => ({ item, rank: ((index * 7_919) % 104_729) % 101 }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);

describe("pending points", () => {
  const voucherOf = (id: string, campaignId: string) => ({
    id,
    code: "CARD",
    campaignId,
    isLoyaltyCard: true,
    isReferralCode: false,
  });

  async function withPending(amounts: readonly bigint[]) {
    const program = await setUp([
      { ...PER_EURO, pendingPoints: { periodType: "DAY", periodValue: 14n } },
    ]);
    const { customerId, cardId } = await join(program);
    for (const amount of amounts) await earn([program.paid(customerId, amount)]);
    const member = { memberId: "CARD", voucher: voucherOf(cardId, program.campaignId) };
    const { pendingPoints } = loyalty;
    const list = (request: object = {}) =>
      pendingPoints.listMemberPendingPoints({ ...member, order: "id", ...request }, program.call);
    const ids = (await list()).data.map(({ id }) => id);
    return { program, cardId, member, list, ids };
  }
  const change = (member: object, pendingPointsId = "") => ({ ...member, pendingPointsId });
  const details = (text: RegExp) => ({ options: { details: expect.stringMatching(text) } });

  test("are listed by page for a card and for a program, with what granted them", async () => {
    const { program, cardId, list, ids } = await withPending([1_000n, 2_000n, 3_000n]);
    const page = await list({ limit: 2n });
    expect(page).toMatchObject({ hasMore: true, moreStartingAfter: ids[1] });
    const [first] = page.data;
    expect(first).toMatchObject({
      voucherId: cardId,
      campaignId: program.campaignId,
      points: 10n,
      activatesAt: "2026-03-15",
      details: { event: { type: "customer.order.paid" }, order: { source_id: "o-1" } },
    });
    const next = await list({ limit: 2n, startingAfterId: ids[1] });
    expect([next.hasMore, next.data.map(({ points }) => points)]).toEqual([false, [30n]]);
    const all = await loyalty.pendingPoints.listPendingPoints(
      { campaignId: program.campaignId },
      program.call,
    );
    expect(all.data.map(({ points }) => points)).toEqual([30n, 20n, 10n]);
    await expect(list({ campaignId: "Other" })).rejects.toThrow(/not found/i);
    expect((await list({ campaignId: "Club" })).data).toHaveLength(3);
  });

  test("are adjusted while a point is left, activated or canceled once, and count as pending until then", async () => {
    const { program, cardId, member, list, ids } = await withPending([1_000n, 2_000n, 3_000n]);
    const { call } = program;
    const [first, second, third] = ids;
    const { pendingPoints } = loyalty;
    const adjust = (points: bigint) =>
      pendingPoints.adjustPendingPoints({ ...change(member, first), points }, call);
    expect(await adjust(-9n)).toMatchObject({ points: -9n, total: 51n, operationType: "MANUAL" });
    for (const points of [-1n, 0n]) {
      await expect(adjust(points)).rejects.toMatchObject({ key: "invalid_amount" });
    }
    const activated = await pendingPoints.activatePendingPoints(change(member, second), call);
    expect(activated).toMatchObject({ points: 20n, total: 20n, balance: 20n });
    await pendingPoints.cancelPendingPoints(change(member, third), call);
    expect((await list()).data.map(({ points }) => points)).toEqual([1n]);
    expect(await program.ledger()).toMatchObject([
      {
        card_id: cardId,
        type: "PENDING_POINTS_ACTIVATION",
        source: null,
        points: 20n,
        lots: { "2026-04-01": 20 },
        details: { pending_points: { id: second } },
      },
    ]);
    const again = pendingPoints.activatePendingPoints(change(member, second), call);
    await expect(again).rejects.toMatchObject(
      details(/be activated\. Current status: 'ACTIVATED'/),
    );
    const canceled = pendingPoints.cancelPendingPoints(change(member, third), call);
    await expect(canceled).rejects.toMatchObject(
      details(/be canceled\. Current status: 'CANCELED'/),
    );
    expect((await program.pending())[0]).toMatchObject({ pending_points: 1n });
    expect(await program.violations()).toEqual([]);
  });

  test("are activated once by concurrent requests", async () => {
    const { program, member, ids } = await withPending([1_000n]);
    const attempts = Array.from({ length: 4 }, () =>
      loyalty.pendingPoints.activatePendingPoints(change(member, ids[0]), program.call),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await program.ledger()).toHaveLength(1);
  });
});

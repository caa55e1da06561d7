import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { DeliveredEvent } from "@scrip/events";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { OrderEditedSchema, OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import { PendingPointsChangedSchema } from "@scrip/proto/scrip/events/v1/points_pb";
import { RedemptionRolledBackSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { onOrderCanceled } from "../src/events/on-order-canceled.ts";
import { ORDERS_TOPIC } from "../src/events/on-order-changed.ts";
import { REDEMPTIONS_TOPIC } from "../src/events/on-redemption.ts";
import { runDueNights } from "../src/jobs/nightly.ts";
import { withoutCanceledOrders } from "../src/points/cancel-orders.ts";
import { addPendingPoints } from "../src/points/pending-points.ts";
import { deliveryFrom, newEvent, NOON } from "./builders.ts";
import { startLoyalty, untilBlocked } from "./deps.ts";
import { DAY, earningIn, PER_EURO } from "./earning-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { earn, publish, setUp, join } = earningIn(loyalty);

const PENDING = { ...PER_EURO, pendingPoints: { periodType: "DAY", periodValue: 14n } };
const IMMEDIATE = { event: "order.paid", loyalty: { type: "FIXED", points: 3n } };
const { CANCELED, PAID } = OrderStatus;

const cancelIn =
  (cancelPendingPointsOnOrderCancel: boolean) => (events: readonly DeliveredEvent[]) =>
    onOrderCanceled(createDeps(loyalty.db), ({ projectId: id }) => ({
      project: { id, timeZone: "UTC", caseSensitiveCodes: true, cancelPendingPointsOnOrderCancel },
      sandboxNow: null,
      deleted: false,
    }))(events, deliveryFrom(ORDERS_TOPIC));
const cancel = cancelIn(true);

const orderOf = (paid: DeliveredEvent) => fromBinary(OrderPaidSchema, paid.payload).order;

const edited = (paid: DeliveredEvent, cancelsPaidOrder = true) =>
  newEvent(
    OrderEditedSchema,
    { projectId: paid.projectId, topic: ORDERS_TOPIC },
    {
      projectId: paid.projectId,
      order: { ...orderOf(paid)!, status: CANCELED },
      date: timestampFromMs(NOON + 1),
      cancelsPaidOrder,
    },
  );

const rolledBack = (
  paid: DeliveredEvent,
  fields: MessageInitShape<typeof RedemptionRolledBackSchema> = {},
) =>
  newEvent(
    RedemptionRolledBackSchema,
    { projectId: paid.projectId, topic: REDEMPTIONS_TOPIC },
    {
      projectId: paid.projectId,
      order: { ...orderOf(paid)!, status: CANCELED },
      date: timestampFromMs(NOON),
      ...fields,
    },
  );

type Program = Awaited<ReturnType<typeof setUp>>;

const statuses = async (program: Program) =>
  (await program.pending()).map(({ status, pending_points: left }) => [status, left]);

const active = async (program: Program) => (await program.ledger()).map(({ points }) => points);

async function published(projectId: string) {
  const { rows } = await loyalty.db.query<{ payload: Uint8Array }>(
    "select payload from outbox where project_id = $1 and type = $2",
    [projectId, PendingPointsChangedSchema.typeName],
  );
  return rows
    .map(({ payload }) => fromBinary(PendingPointsChangedSchema, payload))
    .filter(({ change }) => change === "CANCELED");
}

describe("the cancellation of an order", () => {
  test.each([
    ["an edit", edited],
    ["a rollback", rolledBack],
  ])("by %s cancels its pending points once, and leaves active ones", async (_, event) => {
    const program = await setUp([PENDING, IMMEDIATE]);
    const { customerId, cardId } = await join(program);
    const paid = program.paid(customerId, 1_000n);
    await earn([paid, program.paid(customerId, 2_000n)]);
    await cancel([event(paid)]);
    const canceled = [
      ["CANCELED", 20n],
      ["PENDING", 20n],
    ];
    expect(await statuses(program)).toEqual(canceled);
    expect(await active(program)).toEqual([3n, 3n]);
    await cancel([event(paid), event(paid)]);
    await earn([paid]);
    expect(await statuses(program)).toEqual(canceled);
    expect(await published(program.projectId)).toMatchObject([
      { cardId, customerId, points: -10n, campaignId: program.campaignId },
    ]);
    expect(await program.violations()).toEqual([]);
    const later = { projectId: program.projectId, timeZone: "UTC", now: NOON + 15 * DAY };
    await runDueNights(createDeps(loyalty.db), later);
    expect(await active(program)).toEqual([3n, 3n, 20n]);
  });

  test("cancels the pending points of several orders of one card together", async () => {
    const program = await setUp([PENDING]);
    const { customerId } = await join(program);
    const paid = [1_000n, 2_000n, 3_000n].map((amount) => program.paid(customerId, amount));
    await earn(paid);
    await cancel(paid.map((one) => edited(one)));
    expect(await statuses(program)).toEqual([1, 2, 3].map(() => ["CANCELED", 0n]));
    expect(await program.violations()).toEqual([]);
  });

  test("changes nothing in other projects, before a payment, or without effect on the order", async () => {
    const program = await setUp([PENDING]);
    const { customerId } = await join(program);
    const paid = program.paid(customerId, 1_000n);
    await earn([paid]);
    await cancelIn(false)([rolledBack(paid)]);
    await cancel([
      edited(paid, false),
      rolledBack(paid, { rejected: true }),
      rolledBack(paid, { orderWasCanceled: true }),
      rolledBack(paid, { order: { ...orderOf(paid)!, status: PAID } }),
    ]);
    expect(await statuses(program)).toEqual([["PENDING", 10n]]);
  });

  test("that arrives before the payment leaves only the points that are active at once", async () => {
    const program = await setUp([PENDING, IMMEDIATE]);
    const { customerId } = await join(program);
    const paid = program.paid(customerId, 1_000n);
    await cancel([rolledBack(paid)]);
    await earn([paid]);
    expect(await statuses(program)).toEqual([]);
    expect(await active(program)).toEqual([3n]);
    expect(await program.violations()).toEqual([]);
  });

  test("counts for an accrual that waits for a card", async () => {
    const program = await setUp([PENDING, IMMEDIATE], { autoJoin: true });
    const customerId = await program.newCustomer();
    const paid = program.paid(customerId, 1_000n);
    await earn([paid]);
    await cancel([edited(paid)]);
    await publish([program.published(customerId, { at: NOON + 2 })]);
    expect(await statuses(program)).toEqual([]);
    expect(await active(program)).toEqual([3n]);
  });

  test("waits for an accrual of the order that has begun", async () => {
    const program = await setUp([PENDING]);
    const { projectId, campaignId } = program;
    const { customerId, cardId } = await join(program);
    const paid = program.paid(customerId, 1_000n);
    const orderId = orderOf(paid)?.id ?? "";
    const due = { activatesOn: "2026-03-15", cause: orderId, ruleId: "ern_1", details: {} };
    const about = { projectId, campaignId, customerId, cardId, orderId, createdAt: NOON };
    const grant = {
      card: { projectId, cardId, initialPoints: 0n },
      entry: { ...about, ...due, points: 10n },
      origin: undefined,
    };
    const canceling = await loyalty.db.transaction(async (tx) => {
      await withoutCanceledOrders(tx, [{ trigger: { projectId, causeId: orderId } }]);
      const work = cancel([edited(paid)]);
      await untilBlocked(loyalty.db, work);
      await addPendingPoints(tx, createDeps(loyalty.db), [grant]);
      return { work };
    });
    await canceling.work;
    expect(await statuses(program)).toEqual([["CANCELED", 0n]]);
  });

  test("and its accrual, handled at the same time in any order, leave no pending points", async () => {
    const program = await setUp([PENDING]);
    const { customerId } = await join(program);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 4, maxLength: 12 }), async (firsts) => {
        await Promise.all(
          firsts.map(async (isPaidFirst) => {
            const paid = program.paid(customerId, 1_000n);
            const steps = [() => earn([paid]), () => cancel([edited(paid)])];
            await Promise.all((isPaidFirst ? steps : steps.toReversed()).map((step) => step()));
          }),
        );
        expect((await statuses(program)).filter(([status]) => status !== "CANCELED")).toEqual([]);
        expect(await program.violations()).toEqual([]);
      }),
      { numRuns: 10 },
    );
  });
});

import { fromBinary } from "@bufbuild/protobuf";
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
import { deliveryFrom, newEvent, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { DAY, earningIn, PER_EURO } from "./earning-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { earn, publish, setUp, join } = earningIn(loyalty);

const PENDING = { ...PER_EURO, pendingPoints: { periodType: "DAY", periodValue: 14n } };
const IMMEDIATE = { event: "order.paid", loyalty: { type: "FIXED", points: 3n } };
const { CANCELED, CREATED } = OrderStatus;

const cancelIn =
  (cancelPendingPointsOnOrderCancel: boolean) => (events: readonly DeliveredEvent[]) =>
    onOrderCanceled(createDeps(loyalty.db), ({ projectId: id }) => ({
      project: { id, timeZone: "UTC", caseSensitiveCodes: true, cancelPendingPointsOnOrderCancel },
      sandboxNow: null,
      deleted: false,
    }))(events, deliveryFrom(ORDERS_TOPIC));
const cancel = cancelIn(true);

const orderOf = (paid: DeliveredEvent) => fromBinary(OrderPaidSchema, paid.payload).order;

const edited = (paid: DeliveredEvent, at = NOON + 1, status: OrderStatus = CANCELED) =>
  newEvent(
    OrderEditedSchema,
    { projectId: paid.projectId, topic: ORDERS_TOPIC },
    {
      projectId: paid.projectId,
      order: { ...orderOf(paid)!, status },
      date: timestampFromMs(at),
    },
  );

const rolledBack = (paid: DeliveredEvent, { at = NOON, rejected = false } = {}) =>
  newEvent(
    RedemptionRolledBackSchema,
    { projectId: paid.projectId, topic: REDEMPTIONS_TOPIC },
    {
      projectId: paid.projectId,
      order: { ...orderOf(paid)!, status: CANCELED },
      date: timestampFromMs(at),
      rejected,
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
    await cancel(paid.map((one, index) => edited(one, NOON + index)));
    expect(await statuses(program)).toEqual([1, 2, 3].map(() => ["CANCELED", 0n]));
    expect(await program.violations()).toEqual([]);
  });

  test("changes nothing in other projects, with another status or by a rejected rollback", async () => {
    const program = await setUp([PENDING]);
    const { customerId } = await join(program);
    const paid = program.paid(customerId, 1_000n);
    await earn([paid]);
    await cancelIn(false)([edited(paid), rolledBack(paid)]);
    await cancel([edited(paid, NOON, CREATED), rolledBack(paid, { rejected: true })]);
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

  test("before the payment leaves its pending points, also when it is delivered again", async () => {
    const program = await setUp([PENDING]);
    const { customerId } = await join(program);
    const paid = program.paid(customerId, 1_000n);
    const early = edited(paid, NOON - 1);
    await cancel([early]);
    await earn([paid]);
    await cancel([early]);
    expect(await statuses(program)).toEqual([["PENDING", 10n]]);
    await cancel([edited(paid)]);
    expect(await statuses(program)).toEqual([["CANCELED", 0n]]);
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

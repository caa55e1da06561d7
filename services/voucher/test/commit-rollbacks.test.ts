import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import { RedemptionRolledBackSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import {
  CountMeasure,
  RedemptionStatus,
  RollbackCommandSchema,
  type RollbackOutcome,
  RollbackOutcomeSchema,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { afterAll, afterEach, describe, expect, test } from "vitest";

import {
  commandOf,
  createCommit,
  createDiscountVoucher,
  createGiftVoucher,
  keyOf,
  limitOf,
  committedRedemptions,
  rejectionOf,
  stackOf,
  tierOf,
  voucherPart,
} from "./builders.ts";
import { checkInvariants, NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
afterEach(() => checkInvariants(service));
const commit = createCommit(service);
const replica = service.replica();

type CommandInit = Omit<MessageInitShape<typeof RollbackCommandSchema>, "$typeName">;

const LATER = { seconds: BigInt(NOON / 1000 + 60), nanos: 0 };

const rollbackOf = (redemptionId: string | undefined, overrides: CommandInit = {}) =>
  create(RollbackCommandSchema, {
    projectId: service.projectId,
    redemptionId: redemptionId ?? "",
    now: { $typeName: "google.protobuf.Timestamp", ...LATER },
    orderMode: "WITH_ORDER",
    ...overrides,
  });

const rollBack = async (...commands: ReturnType<typeof rollbackOf>[]) =>
  (await service.redemptions.commitRollbacks({ commands }, service.call())).outcomes;

const rolledBackOf = (outcome: RollbackOutcome | undefined) => {
  if (outcome?.outcome.case !== "committed") {
    throw new Error(
      `not committed but ${outcome?.outcome.case}: ${rollbackRejectionOf(outcome).key}`,
    );
  }
  return outcome.outcome.value;
};

const rollbackRejectionOf = (outcome: RollbackOutcome | undefined) => {
  if (outcome?.outcome.case !== "rejected")
    throw new Error(`not rejected but ${outcome?.outcome.case}`);
  return outcome.outcome.value;
};

const get = (redemptionId: string | undefined) =>
  service.redemptions.getRedemption({ redemptionId: redemptionId ?? "" }, service.call());

const eventsOf = async (key: string) => {
  const { rows } = await service.db.query<{ payload: Buffer }>(
    "select payload from outbox where key = $1 and type = $2 order by id",
    [key, RedemptionRolledBackSchema.typeName],
  );
  return rows.map(({ payload }) => fromBinary(RedemptionRolledBackSchema, payload));
};

describe("CommitRollbacks", () => {
  test("returns the redemption and the credits, and stores the reason", async () => {
    const voucher = await createGiftVoucher(service, 1000n, { redemption: { quantity: 1n } });
    const order = create(OrderSchema, { id: "ord_1", sourceId: "shop-1", amount: 900n });
    const [redeemed] = committedRedemptions(
      (
        await commit(
          commandOf(service, [{ voucher, credits: 300n }], {
            order,
            customerId: "cust_1",
            customer: { $typeName: "scrip.common.v1.Customer", id: "cust_1", name: "Ann" },
            trackingId: "track_1",
            metadata: { channel: "shop", shop: 1 },
          }),
        )
      )[0],
    );
    const left = { ...order, redemptions: { ...redeemed?.order?.redemptions } };

    const [outcome] = await rollBack(
      rollbackOf(redeemed?.id, {
        reason: "returned",
        metadata: { shop: 2 },
        customerId: "cust_1",
        orderId: "shop-1",
        order: left,
        channel: { $typeName: "scrip.voucher.v1.Channel", channelId: "app_2", channelType: "USER" },
      }),
    );

    const { rollbacks, parentRollback, redemptions } = rolledBackOf(outcome);
    const [rollback] = rollbacks;
    expect(parentRollback).toBeUndefined();
    expect(rollback).toMatchObject({
      id: expect.stringMatching(/^rr_[0-9a-f]{18}$/),
      date: LATER,
      customerId: "cust_1",
      customer: { name: "Ann" },
      trackingId: "track_1",
      metadata: { channel: "shop", shop: 2 },
      amount: -300n,
      gift: { amount: -300n },
      redemption: redeemed?.id,
      reason: "returned",
      status: RedemptionStatus.SUCCEEDED,
      channel: { channelId: "app_2" },
      voucher: {
        gift: { balance: 1000n },
        redemption: { redeemedQuantity: 0n, redeemedAmount: 0n },
      },
    });
    expect(rollback?.order?.redemptions[redeemed?.id ?? ""]).toMatchObject({
      relatedObjectId: voucher.id,
      rollbackId: rollback?.id,
      rollbackDate: LATER,
      rollbackStacked: [],
    });
    expect(redemptions).toMatchObject([
      { id: redeemed?.id, status: RedemptionStatus.ROLLED_BACK, order: { id: "ord_1" } },
    ]);
    expect(await get(redeemed?.id)).toMatchObject({
      status: RedemptionStatus.ROLLED_BACK,
      metadata: { channel: "shop", shop: 2 },
      relatedRedemptions: {
        rollbacks: [{ id: rollback?.id, date: LATER, rollbackOrderMode: "WITH_ORDER" }],
      },
    });
    expect(await get(rollback?.id)).toMatchObject({
      object: "redemption_rollback",
      id: rollback?.id,
      redemption: redeemed?.id,
      amount: -300n,
      reason: "returned",
      voucher: { gift: { balance: 1000n } },
    });
    expect(await eventsOf(voucher.id)).toMatchObject([
      {
        rollbackId: rollback?.id,
        redemptionId: redeemed?.id,
        customerId: "cust_1",
        amount: 300n,
        order: { id: "ord_1" },
        orderMode: "WITH_ORDER",
        rejected: false,
      },
    ]);
    // The returned value can be redeemed again.
    const [again] = await commit(commandOf(service, [{ voucher, credits: 1000n }]));
    expect(committedRedemptions(again)).toHaveLength(1);
  });

  test("rolls back a whole stack, and decreases its counts", async () => {
    const gift = await createGiftVoucher(service, 500n);
    const campaignId = "camp_back";
    const guards = [
      limitOf({ case: "campaignId", value: campaignId }, 3, { rejection: "too_many" }),
    ];
    const parts = [
      voucherPart(gift, {
        campaignId,
        credits: 200n,
        orderAmount: 900n,
        units: [{ productId: "prod_1", quantity: 3n }],
      }),
      { ...tierOf("promo_back", campaignId), discountedAmount: 90n, guards },
    ];
    const order = create(OrderSchema, { id: "ord_2" });
    const [outcome] = await commit(stackOf(service, parts, { order, customerId: "cust_2" }));
    if (outcome?.outcome.case !== "committed") throw new Error("not made");
    const { parentRedemption: parent, redemptions: children } = outcome.outcome.value;
    const count = (measure: CountMeasure, productId?: string) =>
      service.redemptions.countRedemptions(
        {
          queries: [
            {
              projectId: service.projectId,
              counts: [
                {
                  scope: { case: "campaignId", value: campaignId },
                  measure,
                  ...(productId !== undefined && { productId }),
                },
              ],
            },
          ],
        },
        service.call(),
      );

    const [blocked] = await commit(stackOf(service, parts));
    expect(rejectionOf(blocked).key).toBe("too_many");
    const [back] = await rollBack(
      rollbackOf(parent?.id, { stacked: true, order: parent?.order ?? order }),
    );

    const { rollbacks, parentRollback, redemptions } = rolledBackOf(back);
    expect(rollbacks.map((one) => one.redemption)).toEqual(children.map(({ id }) => id));
    expect(parentRollback).toMatchObject({
      redemption: parent?.id,
      relatedObjectType: "redemption",
      order: {
        redemptions: {
          [parent?.id ?? ""]: {
            rollbackId: parentRollback?.id,
            rollbackStacked: rollbacks.map(({ id }) => id),
            stacked: children.map(({ id }) => id),
          },
        },
      },
    });
    expect(redemptions.map(({ id }) => id)).toEqual([...children.map(({ id }) => id), parent?.id]);
    expect((await get(parent?.id)).status).toBe(RedemptionStatus.ROLLED_BACK);
    for (const measure of [
      CountMeasure.REDEMPTIONS,
      CountMeasure.ORDERS_AMOUNT,
      CountMeasure.DISCOUNTED_AMOUNT,
      CountMeasure.GIFT_CREDITS,
    ]) {
      expect((await count(measure)).results[0]?.values).toEqual([0n]);
    }
    expect((await count(CountMeasure.UNITS, "prod_1")).results[0]?.values).toEqual([0n]);
    const [first, second] = [...(await eventsOf(gift.id)), ...(await eventsOf("promo_back"))];
    expect([first?.order?.id, second?.order?.id]).toEqual([undefined, "ord_2"]);
    expect(first).toMatchObject({ orderAmount: 900n, discountedAmount: 0n });
    expect(second).toMatchObject({ orderAmount: 0n, discountedAmount: 90n });
    expect(second?.parentRollbackId).toBe(parentRollback?.id);
    const [again] = await commit(stackOf(service, parts));
    expect(committedRedemptions(again)).toHaveLength(2);
  });

  test("returns value to a voucher that has expired, was disabled or deleted", async () => {
    const voucher = await createGiftVoucher(service, 100n);
    const [redeemed] = committedRedemptions(
      (await commit(commandOf(service, [{ voucher, credits: 100n }])))[0],
    );
    await service.vouchers.disableVoucher({ code: voucher.code }, service.call());
    await service.vouchers.deleteVoucher({ code: voucher.code }, service.call());
    const [outcome] = await rollBack(rollbackOf(redeemed?.id));
    expect(rolledBackOf(outcome).rollbacks[0]?.voucher).toMatchObject({
      active: false,
      gift: { balance: 100n },
    });
  });

  test("replays its response under its key byte by byte, and is rejected without the key", async () => {
    const voucher = await createDiscountVoucher(service);
    const parts = [voucherPart(voucher, { orderAmount: 700n, discountedAmount: 70n })];
    const [redeemed] = committedRedemptions(
      (await commit(stackOf(service, parts, { customerId: "cust_3" })))[0],
    );
    const command = rollbackOf(redeemed?.id, { idempotency: { ...keyWith("back-1") } });
    const [first, inBatch] = await rollBack(command, command);
    const [later] = await rollBack(command);
    const [reused] = await rollBack(
      rollbackOf(redeemed?.id, { idempotency: keyWith("back-1", "other") }),
    );
    const [second] = await rollBack(rollbackOf(redeemed?.id));

    const bytes = (one: typeof first) =>
      one && toBinary(RollbackOutcomeSchema, { ...one, replayed: false });
    expect([first, inBatch, later].map((one) => one?.replayed)).toEqual([false, true, true]);
    expect(bytes(inBatch)).toEqual(bytes(first));
    expect(bytes(later)).toEqual(bytes(first));
    expect(rollbackRejectionOf(reused).key).toBe("idempotency_key_reused");
    const rejection = rollbackRejectionOf(second);
    expect(rejection).toMatchObject({
      code: 400,
      key: "already_rolled_back",
      message: "Already rolled back",
      details: "Redemption has been already rolled back.",
      resourceType: "redemption_rollback",
      resourceId: expect.stringMatching(/^rrf_/),
    });
    expect(await get(rejection.resourceId)).toMatchObject({
      object: "redemption_rollback",
      redemption: redeemed?.id,
      status: RedemptionStatus.FAILED,
      failureCode: "already_rolled_back",
    });
    expect(await eventsOf(voucher.id)).toMatchObject([
      { rejected: false, orderAmount: 700n, discountedAmount: 70n },
      { rejected: true, orderAmount: 0n, discountedAmount: 0n },
    ]);
  });

  test("commits exactly one of concurrent rollbacks", async () => {
    const voucher = await createGiftVoucher(service, 100n);
    const [redeemed] = committedRedemptions(
      (await commit(commandOf(service, [{ voucher, credits: 60n }])))[0],
    );
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? service.redemptions : replica).commitRollbacks(
          { commands: [rollbackOf(redeemed?.id)] },
          service.call(),
        ),
      ),
    );
    const ends = outcomes
      .flatMap((one) => one.outcomes)
      .map(({ outcome }) => (outcome.case === "rejected" ? outcome.value.key : outcome.case));
    expect(ends.filter((end) => end === "committed")).toHaveLength(1);
    expect(ends.filter((end) => end === "already_rolled_back")).toHaveLength(11);
  });
});

describe("CommitRollbacks rejects the rollback", () => {
  const givenStack = async () => {
    const voucher = await createDiscountVoucher(service);
    const [outcome] = await commit(stackOf(service, [voucherPart(voucher), tierOf("promo_r")]));
    if (outcome?.outcome.case !== "committed") throw new Error("not made");
    return outcome.outcome.value;
  };
  const givenSingle = async () => {
    const voucher = await createDiscountVoucher(service);
    const order = create(OrderSchema, { id: "ord_r" });
    const [redeemed] = committedRedemptions(
      (await commit(commandOf(service, [{ voucher }], { order, customerId: "cust_r" })))[0],
    );
    return redeemed?.id;
  };

  test("of a part of a stack", async () => {
    const { redemptions } = await givenStack();
    for (const stacked of [false, true]) {
      const [outcome] = await rollBack(rollbackOf(redemptions[0]?.id, { stacked }));
      expect(rollbackRejectionOf(outcome)).toMatchObject({
        key: "invalid_redemption_parent",
        details: "You can rollback only a redemption that does not have parent redemption.",
      });
    }
  });

  test("of a parent when a single redemption is expected", async () => {
    const { parentRedemption } = await givenStack();
    const [outcome] = await rollBack(rollbackOf(parentRedemption?.id));
    expect(rollbackRejectionOf(outcome)).toMatchObject({
      key: "invalid_redemption",
      details:
        "You can rollback only a single redemption. Use different endpoint for stacked redemption.",
    });
  });

  test("of a failed redemption", async () => {
    const voucher = await createDiscountVoucher(service, { redemption: { quantity: 0n } });
    const [failed] = await commit(commandOf(service, [{ voucher }]));
    const [outcome] = await rollBack(rollbackOf(rejectionOf(failed).resourceId));
    expect(rollbackRejectionOf(outcome)).toMatchObject({ key: "invalid_redemption" });
  });

  test.each<[string, CommandInit, string]>([
    ["another customer", { customerId: "cust_x" }, "invalid_customer"],
    ["another order", { orderId: "ord_x" }, "invalid_order"],
    [
      "one that is too old",
      { notBefore: { $typeName: "google.protobuf.Timestamp", ...LATER } },
      "invalid_rollback_params",
    ],
  ])("with %s", async (_name, overrides, key) => {
    const id = await givenSingle();
    const [outcome] = await rollBack(rollbackOf(id, overrides));
    expect(rollbackRejectionOf(outcome).key).toBe(key);
    expect((await get(id)).status).toBe(RedemptionStatus.SUCCEEDED);
  });

  test("of an unknown redemption, or of another project", async () => {
    const id = await givenSingle();
    const outcomes = await rollBack(
      rollbackOf("r_unknown"),
      rollbackOf(id, { projectId: "proj_stranger" }),
    );
    expect(outcomes.map((one) => rollbackRejectionOf(one).key)).toEqual(["not_found", "not_found"]);
    expect((await get(id)).status).toBe(RedemptionStatus.SUCCEEDED);
  });
});

const keyWith = (key: string, hash?: string) => ({
  $typeName: "scrip.voucher.v1.IdempotencyKey" as const,
  ...keyOf(key, hash),
});

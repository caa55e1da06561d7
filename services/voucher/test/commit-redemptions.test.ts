import { create, toBinary } from "@bufbuild/protobuf";
import { OrderItemInputSchema, OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import {
  CommitOutcomeSchema,
  RedemptionResult,
  RedemptionStatus,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { afterAll, describe, expect, test } from "vitest";

import {
  asRead,
  commandOf,
  createCommit,
  createDiscountVoucher,
  createGiftVoucher,
  keyOf,
  committedRedemptions,
  rejectionOf,
} from "./builders.ts";
import { startTestService } from "./deps.ts";
import { invariantsOf } from "./voucher-invariants.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const commit = createCommit(service);

describe("CommitRedemptions", () => {
  test("returns the redemption with its voucher right after, and stores both", async () => {
    const voucher = await createGiftVoucher(service, 1000n, { redemption: { quantity: 2n } });
    const order = { id: "ord_1", amount: 900n, items: [{ quantity: 1n, amount: 900n }] };

    const [outcome] = await commit(
      commandOf(service, [{ voucher, credits: 300n }], {
        order,
        customerId: "cust_1",
        customer: { id: "cust_1", name: "Ann" },
        trackingId: "track_1",
        metadata: { channel: "shop", 'quoted "key\\': [1, null, "NULL", "{}"] },
      }),
    );

    const [committed] = committedRedemptions(outcome);
    expect(committed).toMatchObject({
      id: expect.stringMatching(/^r_[0-9a-f]{18}$/),
      customerId: "cust_1",
      trackingId: "track_1",
      amount: 300n,
      gift: { amount: 300n },
      result: RedemptionResult.SUCCESS,
      status: RedemptionStatus.SUCCEEDED,
      relatedObjectType: "voucher",
      relatedObjectId: voucher.id,
      voucher: {
        id: voucher.id,
        gift: { amount: 1000n, balance: 700n },
        redemption: { quantity: 2n, redeemedQuantity: 1n, redeemedAmount: 300n },
      },
    });
    expect(committed?.order?.redemptions[committed.id]).toMatchObject({
      relatedObjectId: voucher.id,
    });
    const stored = await service.redemptions.getRedemption(
      { redemptionId: committed?.id ?? "" },
      service.call(),
    );
    expect(stored).toEqual(asRead(committed));
  });

  test("writes one event for each success, with the stored order", async () => {
    const voucher = await createDiscountVoucher(service);
    const order = create(OrderSchema, { id: "ord_2", amount: 900n });
    const overrides = [
      create(OrderItemInputSchema, { product: { sourceId: "mug", override: true, price: 900n } }),
      create(OrderItemInputSchema, { sku: { sourceId: "red", override: true } }),
    ];
    const [outcome] = await commit(
      commandOf(service, [{ voucher }], { order, overrides, customerId: "cust_2" }),
    );
    const [committed] = committedRedemptions(outcome);

    const { rows } = await service.db.query<{ topic: string; key: string; payload: Buffer }>(
      "select topic, key, payload from outbox where key = $1",
      [voucher.id],
    );

    const expected = create(RedemptionMadeSchema, {
      projectId: service.projectId,
      redemptionId: committed?.id ?? "",
      voucherId: voucher.id,
      customerId: "cust_2",
      date: committed?.date,
      order: committed?.order,
      overrides,
    });
    expect(rows).toEqual([
      {
        topic: "scrip.redemptions.v1",
        key: voucher.id,
        payload: Buffer.from(toBinary(RedemptionMadeSchema, expected)),
      },
    ]);
  });

  test("records a failed guard as a failed redemption, and redeems nothing", async () => {
    const voucher = await createGiftVoucher(service, 100n);
    const [outcome] = await commit(commandOf(service, [{ voucher, credits: 101n }]));

    const error = rejectionOf(outcome);
    expect(error).toMatchObject({
      code: 400,
      key: "gift_amount_exceeded",
      message: "gift amount exceeded",
      details: voucher.code,
      resourceType: "redemption",
      resourceId: expect.stringMatching(/^rf_[0-9a-f]{18}$/),
    });
    const failed = await service.redemptions.getRedemption(
      { redemptionId: error.resourceId ?? "" },
      service.call(),
    );
    expect(failed).toMatchObject({
      result: RedemptionResult.FAILURE,
      status: RedemptionStatus.FAILED,
      failureCode: "gift_amount_exceeded",
      failureMessage: "gift amount exceeded",
      relatedObjectId: voucher.id,
    });
    expect(failed.order).toBeUndefined();
    expect((await invariantsOf(service, voucher.id)).balance).toBe(100n);
  });

  test("records a rejection, and nothing when the voucher does not exist", async () => {
    const voucher = await createDiscountVoucher(service);
    const rejection = { code: 400, key: "voucher_expired", message: "voucher expired" };
    const [known, unknown] = await commit(
      commandOf(service, [{ voucher }], { rejection }),
      commandOf(service, [], { rejection: { ...rejection, requestId: "v-1" } }),
    );
    expect(rejectionOf(known)).toMatchObject({ ...rejection, resourceType: "redemption" });
    expect(rejectionOf(unknown)).toMatchObject({ ...rejection, requestId: "v-1" });
    expect(rejectionOf(unknown).resourceId).toBeUndefined();
  });

  test("replays the first response of a key byte by byte, even if the voucher is exhausted", async () => {
    const voucher = await createGiftVoucher(service, 500n, { redemption: { quantity: 1n } });
    const command = commandOf(service, [{ voucher, credits: 200n }], {
      idempotency: keyOf("order-1"),
      order: { id: "ord_3", amount: 200n },
      metadata: { a: [1, { b: "ü" }] },
    });

    const [first, inBatch] = await commit(command, command);
    const [later] = await commit(command);
    const [elsewhere] = await createCommit(
      service,
      service.replica(),
    )({
      ...command,
      rejection: {
        $typeName: "scrip.common.v1.Error",
        relatedObjectIds: [],
        code: 400,
        key: "quantity_exceeded",
        message: "",
        requestId: "",
      },
    });

    const bytes = (outcome: typeof first) =>
      outcome && toBinary(CommitOutcomeSchema, { ...outcome, replayed: false });
    expect(committedRedemptions(first)).toHaveLength(1);
    for (const repeat of [inBatch, later, elsewhere]) {
      expect(repeat?.replayed).toBe(true);
      expect(bytes(repeat)).toEqual(bytes(first));
    }
    expect(await invariantsOf(service, voucher.id)).toMatchObject({ balance: 300n, redeemed: 1n });
    const loaded = await service.redemptions.loadVouchers(
      {
        queries: [
          { projectId: service.projectId, codes: [], idempotency: keyOf("order-1") },
          { projectId: service.projectId, codes: [], idempotency: keyOf("order-1", "other") },
          { projectId: "proj_other", codes: [], idempotency: keyOf("order-1") },
        ],
      },
      service.call(),
    );
    expect(loaded.results.map(({ storedOutcome: earlier }) => earlier?.replayed)).toEqual([
      true,
      undefined,
      undefined,
    ]);
  });

  test("rejects a key that another request used with 422, and redeems nothing", async () => {
    const voucher = await createDiscountVoucher(service);
    await commit(commandOf(service, [{ voucher }], { idempotency: keyOf("order-2") }));
    const [reused] = await commit(
      commandOf(service, [{ voucher }], { idempotency: keyOf("order-2", "other") }),
    );
    expect(rejectionOf(reused)).toMatchObject({ code: 422, key: "idempotency_key_reused" });
    expect((await invariantsOf(service, voucher.id)).redeemed).toBe(1n);
  });

  test("replays rejections too", async () => {
    const voucher = await createDiscountVoucher(service, { redemption: { quantity: 0n } });
    const command = commandOf(service, [{ voucher }], { idempotency: keyOf("order-3") });
    const [first] = await commit(command);
    const [second] = await commit(command);
    expect(rejectionOf(second)).toEqual(rejectionOf(first));
    expect(second?.replayed).toBe(true);
  });

  test("returns stale for a changed definition, and writes nothing", async () => {
    const voucher = await createDiscountVoucher(service);
    const command = commandOf(service, [{ voucher }], { idempotency: keyOf("order-4") });
    await service.vouchers.disableVoucher({ code: voucher.code }, service.call());

    const [stale] = await commit(command);
    expect(stale?.outcome.case).toBe("stale");

    await service.vouchers.enableVoucher({ code: voucher.code }, service.call());
    const [loaded] = (
      await service.redemptions.loadVouchers(
        { queries: [{ projectId: service.projectId, codes: [voucher.code] }] },
        service.call(),
      )
    ).results;
    const definitionVersion = loaded?.vouchers[0]?.definitionVersion ?? 0n;
    const [outcome] = await commit({
      ...command,
      parts: command.parts.map((part) => ({ ...part, definitionVersion })),
    });
    expect(committedRedemptions(outcome)[0]?.voucher?.active).toBe(true);
  });

  test("returns not_found for a deleted voucher", async () => {
    const voucher = await createDiscountVoucher(service);
    await service.vouchers.deleteVoucher({ code: voucher.code }, service.call());
    const [outcome] = await commit(commandOf(service, [{ voucher }]));
    expect(rejectionOf(outcome)).toMatchObject({
      code: 404,
      key: "not_found",
      resourceType: "voucher",
    });
  });

  test("redeems all vouchers of a command or none", async () => {
    const first = await createGiftVoucher(service, 100n);
    const second = await createDiscountVoucher(service, { redemption: { quantity: 0n } });
    const [outcome] = await commit(
      commandOf(service, [{ voucher: first, credits: 10n }, { voucher: second }]),
    );
    expect(rejectionOf(outcome)).toMatchObject({ key: "quantity_exceeded", details: second.code });
    expect((await invariantsOf(service, first.id)).balance).toBe(100n);
  });

  test("fails only the item of a batch that cannot be stored", async () => {
    const voucher = await createDiscountVoucher(service);
    const outcomes = await commit(
      commandOf(service, [{ voucher }]),
      commandOf(service, [{ voucher }], { trackingId: "\u0000" }),
      commandOf(service, [{ voucher }]),
    );
    expect(outcomes.map(({ outcome }) => outcome.case)).toEqual([
      "committed",
      "rejected",
      "committed",
    ]);
    expect(rejectionOf(outcomes[1])).toMatchObject({ code: 500, key: "internal_error" });
    expect((await invariantsOf(service, voucher.id)).redeemed).toBe(2n);
  });

  test("hides vouchers and redemptions from other projects", async () => {
    const voucher = await createDiscountVoucher(service);
    const stranger = { projectId: "proj_stranger" };
    const [outcome] = await commit(commandOf(stranger, [{ voucher }]));
    expect(rejectionOf(outcome)).toMatchObject({ key: "not_found" });
    const [own] = await commit(commandOf(service, [{ voucher }]));
    const redemptionId = committedRedemptions(own)[0]?.id ?? "";
    await expect(
      service.redemptions.getRedemption({ redemptionId }, service.call({ id: "proj_stranger" })),
    ).rejects.toMatchObject({ key: "not_found" });
  });
});

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import {
  CommitOutcomeSchema,
  RedemptionStatus,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { afterAll, afterEach, describe, expect, test } from "vitest";

import {
  asRead,
  createCommit,
  createDiscountVoucher,
  createGiftVoucher,
  keyOf,
  committedRedemptions,
  rejectionOf,
  stackOf,
  tierOf,
  voucherPart,
} from "./builders.ts";
import { createDice, race } from "./concurrency.ts";
import { checkInvariants, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
afterEach(() => checkInvariants(service));
const commit = createCommit(service);

const get = (redemptionId: string) =>
  service.redemptions.getRedemption({ redemptionId }, service.call());

describe("CommitRedemptions of a stack", () => {
  test("creates a parent, which the order lists, and a part for each redeemable", async () => {
    const gift = await createGiftVoucher(service, 1000n);
    const order = create(OrderSchema, { id: "ord_1", amount: 900n, totalAmount: 500n });
    const [outcome] = await commit(
      stackOf(
        service,
        [
          { ...tierOf("promo_1"), order: create(OrderSchema, { id: "ord_1", totalAmount: 800n }) },
          voucherPart(gift, { credits: 300n }),
        ],
        { order, sessionKey: "ssn_1", replayData: new Uint8Array([1, 2]) },
      ),
    );
    if (outcome?.outcome.case !== "committed") throw new Error("not made");
    const { redemptions, parentRedemption: parent, replayData: note } = outcome.outcome.value;
    const [first, second] = redemptions;

    expect(note).toEqual(new Uint8Array([1, 2]));
    expect(parent).toMatchObject({
      id: expect.stringMatching(/^r_/),
      relatedObjectType: "redemption",
      relatedObjectId: parent?.id,
      relatedRedemptions: { redemptions: [{ id: first?.id }, { id: second?.id }] },
      order: { totalAmount: 500n },
    });
    expect(first).toMatchObject({
      redemption: parent?.id,
      relatedObjectType: "promotion_tier",
      relatedObjectId: "promo_1",
      relatedObjectParentId: "camp_tiers",
      promotionTier: { name: "Tier promo_1" },
      order: { totalAmount: 800n },
      session: { key: "ssn_1" },
    });
    expect(first?.voucher).toBeUndefined();
    expect(second).toMatchObject({
      redemption: parent?.id,
      amount: 300n,
      voucher: { gift: { balance: 700n }, redemption: { redeemedQuantity: 1n } },
      order: { totalAmount: 500n },
    });
    for (const one of [...redemptions, parent]) {
      expect(Object.entries(one?.order?.redemptions ?? {})).toEqual([
        [
          parent?.id,
          expect.objectContaining({
            relatedObjectType: "redemption",
            stacked: [first?.id, second?.id],
          }),
        ],
      ]);
      expect(await get(one?.id ?? "")).toEqual(asRead(one));
    }
  });

  test("writes an event for each part, and the order once", async () => {
    const voucher = await createDiscountVoucher(service);
    const order = create(OrderSchema, { id: "ord_2" });
    const [outcome] = await commit(
      stackOf(
        service,
        [voucherPart(voucher), { ...tierOf("promo_2"), orderAmount: 900n, discountedAmount: 90n }],
        { order },
      ),
    );
    const parts = committedRedemptions(outcome);
    const { rows } = await service.db.query<{ payload: Buffer }>(
      "select payload from outbox where key in ($1, 'promo_2') order by id",
      [voucher.id],
    );
    const events = rows.map(({ payload }) => fromBinary(RedemptionMadeSchema, payload));
    expect(events.map(({ redemptionId }) => redemptionId)).toEqual(parts.map(({ id }) => id));
    expect(events.map((event) => event.order?.id)).toEqual([undefined, "ord_2"]);
    expect(new Set(events.map((event) => event.parentRedemptionId)).size).toBe(1);
    expect(events).toMatchObject([
      { voucherId: voucher.id, orderAmount: 0n, discountedAmount: 0n },
      { voucherId: "", promotionTierId: "promo_2", orderAmount: 900n, discountedAmount: 90n },
    ]);
  });

  test("redeems all parts or none, and records one failure", async () => {
    const first = await createGiftVoucher(service, 100n);
    const second = await createDiscountVoucher(service, { redemption: { quantity: 0n } });
    const [outcome] = await commit(
      stackOf(service, [
        tierOf("promo_3", "camp_3"),
        voucherPart(first, { credits: 10n }),
        voucherPart(second),
      ]),
    );
    const { resourceId = "", ...rejection } = rejectionOf(outcome);
    expect(rejection).toMatchObject({ key: "quantity_exceeded", details: second.code });
    expect(await get(resourceId)).toMatchObject({
      status: RedemptionStatus.FAILED,
      failureCode: "quantity_exceeded",
      relatedObjectId: second.id,
      redemption: undefined,
    });
    const { rows } = await service.db.query(
      "select 1 from redemption_total where scope_id = 'camp_3' and redemptions > 0",
    );
    expect(rows).toEqual([]);
  });

  test("creates no parent for one part", async () => {
    const [outcome] = await commit(
      stackOf(service, [tierOf("promo_4")], { order: create(OrderSchema, { id: "ord_4" }) }),
    );
    const [committed] = committedRedemptions(outcome);
    expect(committed?.redemption).toBeUndefined();
    expect(committed?.order?.redemptions[committed.id]).toMatchObject({
      relatedObjectType: "promotion_tier",
      relatedObjectId: "promo_4",
      relatedObjectParentId: "camp_tiers",
    });
    expect(await get(committed?.id ?? "")).toEqual(asRead(committed));
  });

  test("replays its response byte by byte", async () => {
    const voucher = await createDiscountVoucher(service);
    const command = stackOf(service, [voucherPart(voucher), tierOf("promo_5")], {
      idempotency: keyOf("stack"),
      replayData: new Uint8Array([7]),
    });
    const [first, second] = await commit(command, command);
    const [third] = await commit(command);
    const bytes = (one: typeof first) =>
      one && toBinary(CommitOutcomeSchema, { ...one, replayed: false });
    expect([first, second, third].map((one) => one?.replayed)).toEqual([false, true, true]);
    expect(bytes(second)).toEqual(bytes(first));
    expect(bytes(third)).toEqual(bytes(first));
  });

  test("records a rejection on its first part, also for a promotion tier", async () => {
    const [outcome] = await commit(
      stackOf(service, [tierOf("promo_6")], {
        rejection: { code: 400, key: "promotion_inactive", message: "Inactive Promotion" },
      }),
    );
    const { resourceId = "" } = rejectionOf(outcome);
    expect(await get(resourceId)).toMatchObject({
      status: RedemptionStatus.FAILED,
      relatedObjectType: "promotion_tier",
      relatedObjectId: "promo_6",
      promotionTier: { id: "promo_6" },
    });
  });
});

test("random stacks over shared codes and tiers never deadlock, and never redeem too much (F11)", async () => {
  const codes = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      index % 3 === 0
        ? createGiftVoucher(service, 2000n, { redemption: { quantity: 60n } })
        : createDiscountVoucher(service, { redemption: { quantity: 40n } }),
    ),
  );
  const roll = createDice(11);
  const parts = () =>
    Array.from({ length: 3 + roll(3) }, () => {
      const index = roll(codes.length + 3);
      const voucher = codes[index];
      return voucher === undefined
        ? tierOf(`promo_f11_${index}`, `camp_f11_${roll(2)}`)
        : voucherPart(voucher, {
            credits: index % 3 === 0 ? BigInt(1 + roll(90)) : 0n,
            campaignId: `camp_f11_${roll(2)}`,
          });
    });
  const deadlocks = async () =>
    (
      await service.db.query<{ deadlocks: bigint }>(
        "select deadlocks from pg_stat_database where datname = current_database()",
      )
    ).rows;
  const before = await deadlocks();

  const outcomes = await race(
    service,
    Array.from({ length: 64 }, () => Array.from({ length: 8 }, () => stackOf(service, parts()))),
  );

  expect(await deadlocks()).toEqual(before);
  const kinds = Map.groupBy(outcomes, ({ outcome }) => outcome.case);
  expect(kinds.get("committed")?.length).toBeGreaterThan(20);
  expect(new Set(kinds.keys())).toEqual(new Set(["committed", "rejected"]));
});

import { create } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, describe, expect, test } from "vitest";

import { commandOf, createCommit, createDiscountVoucher, createGiftVoucher } from "./builders.ts";
import { NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

const maskOf = (...paths: string[]) => create(FieldMaskSchema, { paths });
const at = (text: string) => ({ seconds: BigInt(Date.parse(text) / 1000), nanos: 0 });
describe("UpdateVoucher", () => {
  test("changes only what is sent, merges metadata, and clears with null", async () => {
    const { code } = await createDiscountVoucher(service, {
      additionalInfo: "old",
      metadata: { a: 1, b: 2 },
      redemption: { quantity: 5n },
      validityDayOfWeek: [1],
    });
    const later = NOON + 5000;
    const updated = await service.vouchers.updateVoucher(
      {
        code,
        active: false,
        metadata: { b: null, c: 3 },
        discount: { type: DiscountType.AMOUNT, amountOff: 700n },
        updateMask: maskOf(
          "active",
          "metadata",
          "discount",
          "additional_info",
          "validity_day_of_week",
        ),
      },
      service.call({ now: later }),
    );
    expect(updated).toMatchObject({
      active: false,
      metadata: { a: 1, b: null, c: 3 },
      discount: { type: DiscountType.AMOUNT, amountOff: 700n },
      validityDayOfWeek: [],
      redemption: { quantity: 5n },
      updatedAt: { seconds: BigInt(later / 1000) },
    });
    expect(updated.additionalInfo).toBeUndefined();
    expect(await service.vouchers.getVoucher({ code }, service.call())).toEqual(updated);
  });

  test("rejects changes of amounts, which only transactions change", async () => {
    const gift = await createGiftVoucher(service, 100n);
    for (const [body, name] of [
      [{ gift: { amount: 1n } }, "gift.amount"],
      [{ loyaltyCard: { points: 1n } }, "loyalty_card.points"],
    ] as const) {
      await expect(
        service.vouchers.updateVoucher({ code: gift.code, ...body }, service.call()),
      ).rejects.toMatchObject({
        key: "resource_protected",
        options: {
          details: `Property .${name} cannot be updated: use POST /v1/vouchers/${gift.code}/balance`,
        },
      });
    }
  });

  test("rejects changes of type, counters and contradicting values", async () => {
    const voucher = await createDiscountVoucher(service, { redemption: { quantity: 5n } });
    const { code } = voucher;
    await createCommit(service)(
      commandOf(service, [{ voucher }]),
      commandOf(service, [{ voucher }]),
    );
    const update = (body: object) =>
      service.vouchers.updateVoucher({ code, ...body }, service.call());
    for (const body of [
      { type: VoucherType.GIFT_VOUCHER },
      { redemption: { quantity: 1n }, updateMask: maskOf("redemption") },
      { updateMask: maskOf("discount") },
      {
        startDate: at("2030-01-01T00:00:00Z"),
        expirationDate: at("2029-01-01T00:00:00Z"),
        updateMask: maskOf("start_date", "expiration_date"),
      },
    ]) {
      await expect(update(body)).rejects.toMatchObject({ key: "invalid_voucher" });
    }
    const updated = await update({
      type: VoucherType.DISCOUNT_VOUCHER,
      redemption: { quantity: 2n },
      updateMask: maskOf("type", "redemption"),
    });
    expect(updated.redemption).toMatchObject({ quantity: 2n, redeemedQuantity: 2n });
  });

  test("returns not_found for an unknown code", async () => {
    await expect(
      service.vouchers.updateVoucher({ code: "nope" }, service.call()),
    ).rejects.toMatchObject({ key: "not_found", options: { resourceId: "nope" } });
  });
});

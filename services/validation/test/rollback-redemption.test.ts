import { afterAll, describe, expect, test } from "vitest";

import { createGiftCard, createVoucher, newCode, voucherRef } from "./builders-requests.ts";
import { idempotency, newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { validations, orders, vouchers } = services;

const order = { amount: 10_000n };
const DAY_MS = 86_400_000;

describe("RollbackRedemption", () => {
  test("returns the use, and removes the discount from the order", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call(), { redemption: { quantity: 1n } });
    const redemption = await validations.redeemVoucher(
      { code, order: { ...order, sourceId: "cart-1" } },
      call(),
    );
    const rollback = await validations.rollbackRedemption(
      { redemptionId: redemption.id, reason: "returned" },
      call(),
    );
    expect(rollback).toMatchObject({ redemption: redemption.id, reason: "returned" });
    const read = await vouchers.getVoucher({ code }, call());
    expect(read.redemption?.redeemedQuantity).toBe(0n);
    expect(await orders.getOrder({ orderId: "cart-1" }, call())).toMatchObject({
      totalAmount: 10_000n,
      totalDiscountAmount: 0n,
    });
  });

  test("returns the credits of a gift card", async () => {
    const call = newProject();
    const { code } = await createGiftCard(services, call(), 900n);
    const redemption = await validations.redeemVoucher(
      { code, order, gift: { credits: 400n } },
      call(),
    );
    await validations.rollbackRedemption({ redemptionId: redemption.id }, call());
    const read = await vouchers.getVoucher({ code }, call());
    expect(read.gift?.balance).toBe(900n);
  });

  test("rejects an unknown redemption with not_found", async () => {
    expect(
      await rejectionKey(
        validations.rollbackRedemption({ redemptionId: "r_000000000000000000" }, newProject()()),
      ),
    ).toBe("not_found");
  });

  test("rejects a second rollback with already_rolled_back", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const { id: redemptionId } = await validations.redeemVoucher({ code, order }, call());
    await validations.rollbackRedemption({ redemptionId }, call());
    expect(await rejectionKey(validations.rollbackRedemption({ redemptionId }, call()))).toBe(
      "already_rolled_back",
    );
  });

  test("returns the stored rollback when an idempotency key is repeated", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const { id: redemptionId } = await validations.redeemVoucher({ code, order }, call());
    const key = { idempotency: idempotency(newCode("key")) };
    const first = await validations.rollbackRedemption({ redemptionId }, call(key));
    const again = await validations.rollbackRedemption({ redemptionId }, call(key));
    expect(again.id).toBe(first.id);
  });

  test("rejects a rollback older than three months", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const { id: redemptionId } = await validations.redeemVoucher({ code, order }, call());
    const late = call({ now: Date.now() + 95 * DAY_MS });
    expect(await rejectionKey(validations.rollbackRedemption({ redemptionId }, late))).toBe(
      "invalid_rollback_params",
    );
  });

  test("rejects a customer who did not redeem", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const customer = { sourceId: "ann" };
    const { id: redemptionId } = await validations.redeemVoucher({ code, order, customer }, call());
    const request = { redemptionId, customer: { sourceId: "bob" } };
    expect(await rejectionKey(validations.rollbackRedemption(request, call()))).toBe(
      "invalid_customer",
    );
  });
});

describe("RollbackRedemptions", () => {
  test("rolls back a whole stack by its parent redemption", async () => {
    const call = newProject();
    const percent = await createVoucher(services, call(), { redemption: { quantity: 1n } });
    const gift = await createGiftCard(services, call(), 900n);
    const redeemed = await validations.redeem(
      {
        redeemables: [
          voucherRef(percent.code),
          { ...voucherRef(gift.code), gift: { credits: 900n } },
        ],
        order,
      },
      call(),
    );
    const redemptionId = redeemed.parentRedemption?.id ?? "";
    const result = await validations.rollbackRedemptions({ redemptionId }, call());
    expect(result).toMatchObject({
      parentRollback: { redemption: redemptionId },
      order: { totalAmount: 10_000n },
    });
    expect(result.rollbacks).toHaveLength(2);
    expect((await vouchers.getVoucher({ code: gift.code }, call())).gift?.balance).toBe(900n);
    expect(
      (await vouchers.getVoucher({ code: percent.code }, call())).redemption?.redeemedQuantity,
    ).toBe(0n);
  });

  test("rejects the redemption of a part of the stack", async () => {
    const call = newProject();
    const one = await createVoucher(services, call());
    const two = await createVoucher(services, call());
    const redeemed = await validations.redeem(
      { redeemables: [voucherRef(one.code), voucherRef(two.code)], order },
      call(),
    );
    const redemptionId = redeemed.redemptions[0]?.id ?? "";
    expect(await rejectionKey(validations.rollbackRedemptions({ redemptionId }, call()))).toBe(
      "invalid_redemption_parent",
    );
  });

  test("rejects a second rollback with already_rolled_back", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const redeemed = await validations.redeem({ redeemables: [voucherRef(code)], order }, call());
    const redemptionId = redeemed.redemptions[0]?.id ?? "";
    await validations.rollbackRedemptions({ redemptionId }, call());
    expect(await rejectionKey(validations.rollbackRedemptions({ redemptionId }, call()))).toBe(
      "already_rolled_back",
    );
  });
});

import { RedemptionResult } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { afterAll, describe, expect, test } from "vitest";

import { createGiftCard, createVoucher, newCode, voucherRef } from "./builders-requests.ts";
import { idempotency, newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { validations, orders, vouchers } = services;

const order = { amount: 10_000n };

describe("Redeem", () => {
  test("redeems a stack, and stores its order as paid", async () => {
    const call = newProject();
    const percent = await createVoucher(services, call());
    const gift = await createGiftCard(services, call(), 2_000n);
    const result = await validations.redeem(
      {
        redeemables: [
          voucherRef(percent.code),
          { ...voucherRef(gift.code), gift: { credits: 500n } },
        ],
        order: { ...order, sourceId: "cart-1" },
      },
      call(),
    );
    expect(result).toMatchObject({
      redemptions: [
        { result: RedemptionResult.SUCCESS },
        { result: RedemptionResult.SUCCESS, amount: 500n },
      ],
      parentRedemption: { result: RedemptionResult.SUCCESS },
      order: { totalAmount: 8_500n },
    });
    const stored = await orders.getOrder({ orderId: "cart-1" }, call());
    expect(stored).toMatchObject({ totalAmount: 8_500n, totalDiscountAmount: 1_500n });
    const read = await vouchers.getVoucher({ code: gift.code }, call());
    expect(read.gift?.balance).toBe(1_500n);
  });

  test("redeems nothing if one redeemable of the stack does not apply", async () => {
    const call = newProject();
    const valid = await createVoucher(services, call());
    const inactive = await createVoucher(services, call(), { active: false });
    const redeemables = [voucherRef(valid.code), voucherRef(inactive.code)];
    expect(await rejectionKey(validations.redeem({ redeemables, order }, call()))).toBe(
      "voucher_disabled",
    );
    const read = await vouchers.getVoucher({ code: valid.code }, call());
    expect(read.redemption?.redeemedQuantity).toBe(0n);
  });

  test("returns what did not apply in mode PARTIAL", async () => {
    const call = newProject();
    await services.stackingRules.createStackingRules(
      {
        redeemablesApplicationMode: "PARTIAL",
        updateMask: { paths: ["redeemables_application_mode"] },
      },
      call(),
    );
    const valid = await createVoucher(services, call());
    const inactive = await createVoucher(services, call(), { active: false });
    const redeemables = [voucherRef(valid.code), voucherRef(inactive.code)];
    expect(await validations.redeem({ redeemables, order }, call())).toMatchObject({
      redemptions: [{ result: RedemptionResult.SUCCESS }],
      inapplicableRedeemables: [{ id: inactive.code }],
    });
    const none = [voucherRef(inactive.code)];
    expect(await rejectionKey(validations.redeem({ redeemables: none, order }, call()))).toBe(
      "no_applicable_redeemables",
    );
  });

  test("returns the stored response when an idempotency key is repeated", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call(), { redemption: { quantity: 1n } });
    const request = { redeemables: [voucherRef(code)], order };
    const key = { idempotency: idempotency(newCode("key")) };
    const first = await validations.redeem(request, call(key));
    let replays = 0;
    const again = await validations.redeem(
      request,
      call({ ...key, onReplay: () => (replays += 1) }),
    );
    expect(again.redemptions[0]?.id).toBe(first.redemptions[0]?.id);
    expect(again).toEqual(first);
    expect(replays).toBe(1);
    const read = await vouchers.getVoucher({ code }, call());
    expect(read.redemption?.redeemedQuantity).toBe(1n);
  });

  test("returns the ids of products and SKUs that the order creates, also when it is repeated", async () => {
    const call = newProject();
    const [percent, gift] = [
      await createVoucher(services, call()),
      await createGiftCard(services, call(), 2_000n),
    ];
    const items = [
      { sourceId: "hat", price: 900n, product: { override: true, name: "Hat" } },
      {
        price: 450n,
        product: { override: true, sourceId: "mug" },
        sku: { override: true, sourceId: "mug-red", sku: "Red" },
      },
      { sourceId: "unknown", price: 100n },
    ];
    const request = {
      redeemables: [voucherRef(percent.code), voucherRef(gift.code)],
      order: { sourceId: "cart-1", items },
    };
    const key = { idempotency: idempotency(newCode("key")) };
    const result = await validations.redeem(request, call(key));
    const { items: stored } = await orders.getOrder({ orderId: "cart-1" }, call());
    const idsOf = (lines: typeof stored) =>
      lines.map(({ productId, product, skuId, sku }) => [productId, product?.id, skuId, sku?.id]);
    const [hat, mug] = [expect.stringMatching(/^prod_/), expect.stringMatching(/^prod_/)];
    const red = expect.stringMatching(/^sku_/);
    expect(idsOf(stored)).toEqual([
      [hat, hat, undefined, undefined],
      [mug, mug, red, red],
      [undefined, undefined, undefined, undefined],
    ]);
    const shown = [result, result.parentRedemption, ...result.redemptions];
    for (const one of shown) expect(idsOf(one?.order?.items ?? [])).toEqual(idsOf(stored));
    await orders.updateOrder(
      { orderId: "cart-1", items: [{ amount: 1n }], updateMask: { paths: ["items"] } },
      call(),
    );
    expect(await validations.redeem(request, call(key))).toEqual(result);
  });

  test("rejects an idempotency key that belongs to another request", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const request = { redeemables: [voucherRef(code)], order };
    const key = newCode("key");
    await validations.redeem(request, call({ idempotency: idempotency(key, "one") }));
    const other = call({ idempotency: idempotency(key, "two") });
    expect(await rejectionKey(validations.redeem(request, other))).toBe("idempotency_key_reused");
  });

  test("redeems the last use of a voucher once among concurrent requests", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call(), { redemption: { quantity: 1n } });
    const request = { redeemables: [voucherRef(code)], order };
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => validations.redeem(request, call())),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const reasons = await Promise.all(
      results.flatMap((result) =>
        result.status === "rejected" ? [rejectionKey(Promise.reject(result.reason))] : [],
      ),
    );
    expect(new Set(reasons)).toEqual(new Set(["quantity_exceeded"]));
  });
});

describe("RedeemVoucher", () => {
  test("redeems one voucher, and creates the customer of the request", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const request = {
      code,
      order: { ...order, sourceId: "cart-1" },
      customer: { sourceId: "ann" },
    };
    const redemption = await validations.redeemVoucher(request, call());
    expect(redemption).toMatchObject({
      result: RedemptionResult.SUCCESS,
      voucher: { code, redemption: { redeemedQuantity: 1n } },
      customer: { sourceId: "ann" },
      order: { totalAmount: 9_000n },
    });
    const stored = await orders.getOrder({ orderId: "cart-1" }, call());
    expect(stored.customerId).toBe(redemption.customerId);
  });

  test("rejects an unknown code without recording anything", async () => {
    expect(
      await rejectionKey(
        validations.redeemVoucher({ code: newCode("NONE"), order }, newProject()()),
      ),
    ).toBe("not_found");
  });

  test("rejects a second use of a voucher that can be used once", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call(), { redemption: { quantity: 1n } });
    await validations.redeemVoucher({ code, order }, call());
    expect(await rejectionKey(validations.redeemVoucher({ code, order }, call()))).toBe(
      "quantity_exceeded",
    );
  });

  test("takes only the requested credits from a gift card", async () => {
    const call = newProject();
    const { code } = await createGiftCard(services, call(), 700n);
    const redeem = (credits: bigint) =>
      validations.redeemVoucher({ code, order, gift: { credits } }, call());
    expect(await redeem(600n)).toMatchObject({
      amount: 600n,
      voucher: { gift: { balance: 100n } },
    });
    expect(await rejectionKey(redeem(101n))).toBe("gift_amount_exceeded");
    expect(await redeem(100n)).toMatchObject({ voucher: { gift: { balance: 0n } } });
  });
});

describe("RedeemCode", () => {
  test("returns only the ids of the customer to client-side callers", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const customer = { sourceId: "ann", name: "Ann", email: "ann@example.com" };
    await validations.redeemVoucher({ code, order, customer }, call());
    const client = call({ caller: { side: "client", id: "client_test" } });
    const redemption = await validations.redeemCode(
      { code, order, customer: { sourceId: "ann", name: "Mallory" } },
      client,
    );
    expect(redemption.customer).toMatchObject({ sourceId: "ann" });
    expect(redemption.customer).not.toHaveProperty("email");
    const server = await validations.redeemVoucher(
      { code, order, customer: { sourceId: "ann" } },
      call(),
    );
    expect(server.customer).toMatchObject({ name: "Ann", email: "ann@example.com" });
  });

  test("rejects an unknown code with not_found", async () => {
    expect(
      await rejectionKey(validations.redeemCode({ code: newCode("NONE"), order }, newProject()())),
    ).toBe("not_found");
  });
});

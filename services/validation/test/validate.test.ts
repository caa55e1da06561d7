import { DiscountEffect, DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { afterAll, describe, expect, test } from "vitest";

import { createGiftCard, createVoucher, voucherRef } from "./builders-requests.ts";
import { newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { validations } = services;

const order = { amount: 10_000n };

describe("Validate", () => {
  test("applies all redeemables in order and returns the calculated order", async () => {
    const call = newProject();
    const percent = await createVoucher(services, call());
    const gift = await createGiftCard(services, call(), 2_000n);
    const result = await validations.validate(
      {
        redeemables: [
          voucherRef(percent.code),
          { ...voucherRef(gift.code), gift: { credits: 1_500n } },
        ],
        order,
      },
      call(),
    );
    expect(result).toMatchObject({
      valid: true,
      redeemables: [
        { status: "APPLICABLE", id: percent.code, order: { totalAmount: 9_000n } },
        {
          status: "APPLICABLE",
          id: gift.code,
          result: { gift: { balance: 2_000n, credits: 1_500n } },
        },
      ],
      order: { totalDiscountAmount: 2_500n, totalAmount: 7_500n },
      inapplicableRedeemables: [],
    });
    expect(result.id).toMatch(/^valid_/);
  });

  test("sets the prices of rule entries for a FIXED discount without an amount", async () => {
    const call = newProject();
    const { id, code } = await createVoucher(services, call(), {
      discount: { type: DiscountType.FIXED, effect: DiscountEffect.APPLY_TO_ITEMS },
    });
    const lines = [1_000n, 2_000n, 3_000n].map((price, at) => ({
      productId: `item-${at}`,
      price,
      quantity: 2n,
    }));
    const validate = () =>
      validations.validate({ redeemables: [voucherRef(code)], order: { items: lines } }, call());
    expect(await validate()).toMatchObject({ valid: true, order: { totalAmount: 12_000n } });

    const rule = await services.rules.createValidationRule(
      {
        applicableTo: {
          included: [
            { object: "product", id: "item-0", price: 600n },
            { object: "product", id: "item-1", priceFormula: "ORDER_ITEM_PRICE / 2" },
            { object: "product", id: "item-2", priceFormula: "1 / 0" },
          ],
        },
      },
      call(),
    );
    await services.rules.createAssignment(
      { validationRuleId: rule.id, relatedObjectType: "voucher", relatedObjectId: id },
      call(),
    );
    expect((await validate()).order?.items).toMatchObject([
      { discountAmount: 800n },
      { discountAmount: 2_000n },
      { discountAmount: 0n },
    ]);
  });

  test("rejects customers of the order without id and source id with invalid_payload", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const customer = { sourceId: "ann" };
    for (const nobody of [{ customer: { name: "Ann" } }, { referrer: { name: "Bo" } }]) {
      const request = { redeemables: [voucherRef(code)], customer, order: { ...order, ...nobody } };
      expect(await rejectionKey(validations.validate(request, call()))).toBe("invalid_payload");
      expect(await rejectionKey(validations.redeem(request, call()))).toBe("invalid_payload");
    }
  });

  test("returns categories, also none, only with expand category", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const first = async (expand: string[]) =>
      (
        await validations.validate(
          { redeemables: [voucherRef(code)], order, options: { expand } },
          call(),
        )
      ).redeemables[0];
    expect(await first(["category"])).toMatchObject({ categories: [], expandsCategories: true });
    expect((await first(["order"]))?.expandsCategories).toBeUndefined();
  });

  test("lists an unknown voucher as inapplicable with not_found", async () => {
    const call = newProject();
    const voucher = await createVoucher(services, call());
    const result = await validations.validate(
      { redeemables: [voucherRef(voucher.code), voucherRef("UNKNOWN")], order },
      call(),
    );
    expect(result).toMatchObject({
      valid: false,
      inapplicableRedeemables: [{ id: "UNKNOWN", result: { error: { key: "not_found" } } }],
    });
  });

  test("lists an inactive voucher as inapplicable with voucher_disabled", async () => {
    const call = newProject();
    const voucher = await createVoucher(services, call(), { active: false });
    const result = await validations.validate(
      { redeemables: [voucherRef(voucher.code)], order },
      call(),
    );
    expect(result.inapplicableRedeemables[0]?.result?.error?.key).toBe("voucher_disabled");
  });

  test("skips inapplicable redeemables in mode PARTIAL", async () => {
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
    const result = await validations.validate(
      { redeemables: [voucherRef(inactive.code), voucherRef(valid.code)], order },
      call(),
    );
    expect(result).toMatchObject({
      valid: true,
      redeemables: [{ id: valid.code, status: "APPLICABLE" }],
      inapplicableRedeemables: [{ id: inactive.code, status: "INAPPLICABLE" }],
      order: { totalAmount: 9_000n },
    });
  });

  test("rejects a request that names a redeemable twice", async () => {
    const call = newProject();
    const voucher = await createVoucher(services, call());
    const redeemables = [voucherRef(voucher.code), voucherRef(voucher.code)];
    expect(await rejectionKey(validations.validate({ redeemables, order }, call()))).toBe(
      "duplicated_redeemables",
    );
  });

  test("locks the vouchers of a session against other sessions until the lock expires", async () => {
    const call = newProject();
    const voucher = await createVoucher(services, call(), { redemption: { quantity: 1n } });
    const redeemables = [voucherRef(voucher.code)];
    const session = { type: "LOCK", ttl: 1n, ttlUnit: "HOURS" };
    const locked = await validations.validate({ redeemables, order, session }, call());
    expect(locked).toMatchObject({ valid: true, session: { type: "LOCK", ttl: 1n } });
    expect(locked.session?.key).toMatch(/^ssn_/);
    const other = await validations.validate({ redeemables, order, session }, call());
    expect(other.valid).toBe(false);
    const again = { ...session, key: locked.session?.key ?? "" };
    expect(
      await validations.validate({ redeemables, order, session: again }, call()),
    ).toMatchObject({ valid: true });
    const later = call({ now: Date.now() + 2 * 3_600_000 });
    expect(await validations.validate({ redeemables, order, session }, later)).toMatchObject({
      valid: true,
    });
  });

  test("writes neither an order nor a customer", async () => {
    const call = newProject();
    const voucher = await createVoucher(services, call());
    await validations.validate(
      {
        redeemables: [voucherRef(voucher.code)],
        order: { ...order, sourceId: "cart-1" },
        customer: { sourceId: "ann" },
      },
      call(),
    );
    expect(await services.orders.listOrders({}, call())).toMatchObject({ total: 0n });
  });

  test("explains each step if the request expands explanations", async () => {
    const call = newProject();
    const voucher = await createVoucher(services, call());
    const result = await validations.validate(
      { redeemables: [voucherRef(voucher.code)], order, options: { expand: ["explanation"] } },
      call(),
    );
    const explanation = result.redeemables[0]?.result?.explanation;
    expect(explanation).toMatchObject({ status: "APPLICABLE" });
    expect(explanation?.steps.length).toBeGreaterThan(0);
  });
});

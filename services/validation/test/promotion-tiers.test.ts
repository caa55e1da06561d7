import { RedemptionResult } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { afterAll, describe, expect, test } from "vitest";

import { createPromotionTier, newCode } from "./builders-requests.ts";
import { idempotency, newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { validations } = services;

const order = { amount: 10_000n };
const UNKNOWN = "promo_000000000000000000";

describe("ValidatePromotionTier", () => {
  test("returns the tier with its campaign and the calculated order", async () => {
    const call = newProject();
    const tier = await createPromotionTier(services, call(), { name: "Ten", banner: "10 % off" });
    expect(
      await validations.validatePromotionTier({ tierId: tier.id, order }, call()),
    ).toMatchObject({
      valid: true,
      id: tier.id,
      name: "Ten",
      banner: "10 % off",
      campaign: { id: tier.campaignId },
      discountAmount: 1_000n,
      order: { totalAmount: 9_000n },
    });
  });

  test("returns the reason why an inactive tier is invalid", async () => {
    const call = newProject();
    const tier = await createPromotionTier(services, call(), { active: false });
    expect(
      await validations.validatePromotionTier({ tierId: tier.id, order }, call()),
    ).toMatchObject({ valid: false, error: { key: "promotion_inactive" } });
  });

  test("rejects an unknown tier with not_found", async () => {
    const request = { tierId: UNKNOWN, order };
    expect(await rejectionKey(validations.validatePromotionTier(request, newProject()()))).toBe(
      "not_found",
    );
  });
});

describe("ValidatePromotions", () => {
  test("lists the tiers that apply by their hierarchy", async () => {
    const call = newProject();
    const second = await createPromotionTier(services, call(), { hierarchy: 2n });
    const first = await createPromotionTier(services, call(), { hierarchy: 1n });
    await createPromotionTier(services, call(), { active: false });
    const result = await validations.validatePromotions({ order }, call());
    expect(result).toMatchObject({
      valid: true,
      promotions: [{ id: first.id }, { id: second.id }],
    });
    expect(result.promotions).toHaveLength(2);
  });

  test("is invalid without tiers", async () => {
    expect(await validations.validatePromotions({ order }, newProject()())).toMatchObject({
      valid: false,
      promotions: [],
    });
  });
});

describe("RedeemPromotionTier", () => {
  test("returns the whole tier in the redemption", async () => {
    const call = newProject();
    const { id: categoryId } = await services.categories.createCategory({ name: "Sale" }, call());
    const tier = await createPromotionTier(services, call(), { categoryId });
    const redemption = await validations.redeemPromotionTier({ tierId: tier.id, order }, call());
    expect(redemption.promotionTier).toMatchObject({
      id: tier.id,
      campaignId: tier.campaignId,
      active: true,
      createdAt: tier.createdAt,
      categories: [{ id: categoryId, name: "Sale" }],
      summary: {
        redemptions: { totalRedeemed: 0n },
        orders: { totalAmount: 0n, totalDiscountAmount: 0n },
      },
    });
  });

  test("redeems the tier, and repeats the response for the same idempotency key", async () => {
    const call = newProject();
    const tier = await createPromotionTier(services, call());
    const key = { idempotency: idempotency(newCode("key")) };
    const redemption = await validations.redeemPromotionTier({ tierId: tier.id, order }, call(key));
    expect(redemption).toMatchObject({
      result: RedemptionResult.SUCCESS,
      promotionTier: { id: tier.id },
      order: { totalAmount: 9_000n },
    });
    const again = await validations.redeemPromotionTier({ tierId: tier.id, order }, call(key));
    expect(again.id).toBe(redemption.id);
  });

  test("rejects an inactive tier with promotion_inactive", async () => {
    const call = newProject();
    const tier = await createPromotionTier(services, call(), { active: false });
    const request = { tierId: tier.id, order };
    expect(await rejectionKey(validations.redeemPromotionTier(request, call()))).toBe(
      "promotion_inactive",
    );
  });

  test("rejects an unknown tier with not_found", async () => {
    const request = { tierId: UNKNOWN, order };
    expect(await rejectionKey(validations.redeemPromotionTier(request, newProject()()))).toBe(
      "not_found",
    );
  });
});

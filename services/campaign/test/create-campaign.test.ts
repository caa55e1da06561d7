import { instantToProto } from "@scrip/mapping";
import type { CreateCampaignRequestSchema } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import {
  CampaignKind,
  CampaignStatus,
  CampaignType,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, describe, expect, test } from "vitest";

import { type Init, newCall, newCoupons, NOON, rejectionKey, TEN_PERCENT } from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns, categories, network, promotions, vouchers } = service;

const coupons = { name: "coupons", voucher: { discount: TEN_PERCENT } };

describe("CreateCampaign", () => {
  test("creates a coupon campaign with its codes and shows it as DONE afterwards", async () => {
    const call = newCall();
    const created = await campaigns.createCampaign(
      { ...coupons, vouchersCount: 3n, description: "d", metadata: { a: 1 } },
      call,
    );
    expect(created).toMatchObject({
      id: expect.stringMatching(/^camp_/),
      name: "coupons",
      description: "d",
      campaignType: CampaignType.DISCOUNT_COUPONS,
      type: CampaignKind.STATIC,
      active: true,
      metadata: { a: 1 },
      creationStatus: CampaignStatus.IN_PROGRESS,
      vouchersCount: 0n,
      voucher: { type: VoucherType.DISCOUNT_VOUCHER, discount: { percentOff: "10" } },
    });
    expect(await campaigns.getCampaign({ campaignId: created.id }, call)).toMatchObject({
      creationStatus: CampaignStatus.DONE,
      vouchersGenerationStatus: CampaignStatus.DONE,
      vouchersCount: 3n,
    });
    const listed = await vouchers.listVouchers({ campaignId: created.id }, call);
    expect(listed.total).toBe(3n);
  });

  test("creates one public code for a STANDALONE campaign", async () => {
    const call = newCall();
    const { id } = await campaigns.createCampaign(
      { name: "s", type: CampaignKind.STANDALONE, voucher: { discount: TEN_PERCENT, code: "ALL" } },
      call,
    );
    expect(await vouchers.getVoucher({ code: "ALL" }, call)).toMatchObject({ campaignId: id });
  });

  test("creates a promotion with tiers, each after the highest hierarchy before it", async () => {
    const call = newCall();
    const tier = (name: string, hierarchy?: bigint) => ({
      name,
      action: { discount: TEN_PERCENT },
      ...(hierarchy !== undefined && { hierarchy }),
    });
    const { id, promotion } = await campaigns.createCampaign(
      {
        name: "p",
        campaignType: CampaignType.PROMOTION,
        promotion: { tiers: [tier("a"), tier("b", 7n), tier("c"), tier("d", 2n)] },
      },
      call,
    );
    expect(promotion?.tiers.map(({ name, hierarchy }) => [name, hierarchy])).toEqual([
      ["a", 1n],
      ["d", 2n],
      ["b", 7n],
      ["c", 8n],
    ]);
    expect((await promotions.listCampaignTiers({ campaignId: id }, call)).total).toBe(4n);
  });

  test("infers the campaign type from the voucher template or the promotion", async () => {
    const call = newCall();
    const gift = { amount: 500n };
    const loyaltyCard = { points: 5n };
    const discount = TEN_PERCENT;
    const requests: [CampaignType, Parameters<typeof newCoupons>[2]][] = [
      [CampaignType.DISCOUNT_COUPONS, { voucher: { discount } }],
      [CampaignType.GIFT_VOUCHERS, { voucher: { gift } }],
      [CampaignType.GIFT_VOUCHERS, { voucher: { type: VoucherType.GIFT_VOUCHER, gift } }],
      [CampaignType.LOYALTY_PROGRAM, { voucher: { loyaltyCard } }],
      [CampaignType.LOYALTY_PROGRAM, { voucher: { type: VoucherType.LOYALTY_CARD, loyaltyCard } }],
      [CampaignType.PROMOTION, { voucher: undefined, promotion: { tiers: [] } }],
    ];
    for (const [campaignType, request] of requests) {
      expect(await newCoupons(service, call, request)).toMatchObject({ campaignType });
    }
    const nothing = newCoupons(service, call, { voucher: {} });
    expect(await rejectionKey(nothing)).toBe("invalid_campaign");
    const contradiction = newCoupons(service, call, {
      voucher: { type: VoucherType.GIFT_VOUCHER, discount },
    });
    expect(await rejectionKey(contradiction)).toBe("invalid_campaign");
  });

  test("creates a missing category by name and resolves an existing one by id", async () => {
    const call = newCall();
    const first = await newCoupons(service, call, { category: "Spring" });
    expect(first).toMatchObject({ category: "Spring", categories: [{ name: "Spring" }] });
    const second = await newCoupons(service, call, { categoryId: first.categoryId! });
    expect(second.categoryId).toBe(first.categoryId);
  });

  test("uses the id that the gateway reserved, and rejects rules that the gateway did not assign", async () => {
    const call = newCall();
    const reservedId = "camp_0123456789abcdef01";
    const created = await campaigns.createCampaign({ ...coupons, reservedId }, call);
    expect(created.id).toBe(reservedId);
    const rules = ["val_1"];
    const tier = { name: "tier", action: { discount: TEN_PERCENT }, validationRules: rules };
    const attempts = [
      campaigns.createCampaign({ ...coupons, name: "other", validationRules: rules }, call),
      campaigns.createCampaign(
        { name: "p", campaignType: CampaignType.PROMOTION, promotion: { tiers: [tier] } },
        call,
      ),
    ];
    await Promise.all(
      attempts.map((attempt) => expect(attempt).rejects.toMatchObject({ key: "invalid_payload" })),
    );
  });

  test.each<[string, string, Init<typeof CreateCampaignRequestSchema>]>([
    ["parts of another type", "invalid_campaign", { name: "c", voucher: {} }],
    [
      "more codes than the limit",
      "invalid_campaign_params",
      { ...coupons, vouchersCount: 1_000_001n },
    ],
    [
      "an expiration before the start",
      "invalid_campaign_params",
      { ...coupons, startDate: instantToProto(NOON), expirationDate: instantToProto(NOON - 1) },
    ],
    [
      "a day outside the week",
      "invalid_payload",
      { ...coupons, validityHours: { daily: [] }, validityDayOfWeek: [1] },
    ],
    [
      "more codes than the code pattern has",
      "invalid_code_config",
      {
        name: "c",
        category: "New",
        voucher: { discount: TEN_PERCENT, codeConfig: { length: 1n, charset: "a" } },
        vouchersCount: 2n,
      },
    ],
    ["a discount without a value", "invalid_voucher", { name: "c", voucher: { discount: {} } }],
    ["an unknown category id", "not_found", { ...coupons, categoryId: "cat_unknown" }],
    [
      "an unknown category id with a name",
      "not_found",
      { ...coupons, category: "a", categoryId: "b" },
    ],
  ])("rejects %s with %s and creates no campaign", async (_name, key, request) => {
    const call = newCall();
    expect(await rejectionKey(campaigns.createCampaign(request, call))).toBe(key);
    expect((await campaigns.listCampaigns({}, call)).total).toBe(0n);
    expect((await categories.listCategories({}, call)).total).toBe(0n);
  });

  test("rejects a name that the project has, also when both requests are concurrent", async () => {
    const call = newCall();
    const outcomes = await Promise.allSettled(
      [1, 2].map(() => campaigns.createCampaign(coupons, call)),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await rejectionKey(campaigns.createCampaign(coupons, call))).toBe("duplicate_found");
    await campaigns.createCampaign(coupons, newCall());
  });

  test("deletes the campaign again when its code is rejected", async () => {
    const call = newCall();
    const standalone = {
      name: "one",
      type: CampaignKind.STANDALONE,
      voucher: { discount: TEN_PERCENT, code: "TAKEN" },
    };
    await campaigns.createCampaign(standalone, call);
    expect(await rejectionKey(campaigns.createCampaign({ ...standalone, name: "two" }, call))).toBe(
      "duplicate_found",
    );
    expect((await campaigns.listCampaigns({}, call)).total).toBe(1n);
  });

  test("sets the status FAILED when the voucher service does not respond", async () => {
    const call = newCall();
    network.isUp = false;
    try {
      await expect(
        campaigns.createCampaign({ ...coupons, vouchersCount: 1n }, call),
      ).rejects.toThrow("unimplemented");
    } finally {
      network.isUp = true;
    }
    expect(await campaigns.getCampaign({ campaignId: "coupons" }, call)).toMatchObject({
      creationStatus: CampaignStatus.FAILED,
      vouchersGenerationStatus: CampaignStatus.FAILED,
      vouchersCount: 0n,
    });
  });
});

import { instantToProto } from "@scrip/mapping";
import {
  CampaignKind,
  CampaignStatus,
  CampaignType,
  type UpdateCampaignRequestSchema,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import {
  type Init,
  newCall,
  newCoupons,
  newPromotion,
  NOON,
  rejectionKey,
  TEN_PERCENT,
} from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns, db, network, vouchers } = service;

const TWENTY_PERCENT = { ...TEN_PERCENT, percentOff: "20" };

/** Sends an update whose mask lists `paths`. */
const update = (
  call: Call,
  request: Omit<Init<typeof UpdateCampaignRequestSchema>, "updateMask">,
  paths: string[],
) => campaigns.updateCampaign({ ...request, updateMask: { paths } }, call);

describe("UpdateCampaign", () => {
  test("changes only the sent fields, merges metadata and clears null fields", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call, {
      name: "coupons",
      description: "d",
      metadata: { a: 1, b: 2 },
      category: "Spring",
    });
    const later = { ...call, now: NOON + 1000 };
    const updated = await update(
      later,
      {
        campaignId: "coupons",
        metadata: { c: 3 },
        unsetMetadataFields: ["a"],
        type: CampaignKind.AUTO_UPDATE,
      },
      ["description", "metadata", "unset_metadata_fields", "type", "category_id"],
    );
    expect(updated).toMatchObject({
      id,
      name: "coupons",
      type: CampaignKind.AUTO_UPDATE,
      metadata: { b: 2, c: 3 },
      creationStatus: CampaignStatus.DONE,
      updatedAt: instantToProto(NOON + 1000),
    });
    expect(updated.description).toBeUndefined();
    expect(updated.categoryId).toBeUndefined();
    expect(await campaigns.getCampaign({ campaignId: id }, call)).toEqual(updated);
  });

  test("copies values to the vouchers of the campaign", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call, { vouchersCount: 2n });
    await update(call, { campaignId: id, discount: TWENTY_PERCENT }, ["discount"]);
    const listed = await vouchers.listVouchers({ campaignId: id }, call);
    expect(listed.vouchers.map(({ discount }) => discount?.percentOff)).toEqual(["20", "20"]);
  });

  test("applies the update to vouchers that are added concurrently", async () => {
    for (let round = 0; round < 5; round += 1) {
      const call = newCall();
      const { id } = await newCoupons(service, call, { vouchersCount: 1n });
      await Promise.all([
        update(call, { campaignId: id, discount: TWENTY_PERCENT }, ["discount"]),
        campaigns.createCampaignVouchers({ campaignId: id, vouchersCount: 3n }, call),
      ]);
      const listed = await vouchers.listVouchers({ campaignId: id }, call);
      const values = listed.vouchers.map(({ discount }) => discount?.percentOff);
      expect(values).toEqual(["20", "20", "20", "20"]);
      expect((await campaigns.getCampaign({ campaignId: id }, call)).vouchersCount).toBe(4n);
    }
  });

  test("is FAILED while the voucher service does not respond, and the next update repairs it", async () => {
    const call = newCall();
    await newCoupons(service, call, { name: "coupons" });
    const change = { campaignId: "coupons", discount: TWENTY_PERCENT };
    network.isUp = false;
    try {
      await expect(update(call, change, ["discount"])).rejects.toThrow("unimplemented");
      await expect(update(call, change, ["discount"])).rejects.toThrow("unimplemented");
    } finally {
      network.isUp = true;
    }
    const failed = await campaigns.getCampaign({ campaignId: "coupons" }, call);
    expect(failed.creationStatus).toBe(CampaignStatus.FAILED);
    // Not copied to vouchers, so it needs no call.
    const updated = await update(call, { campaignId: "coupons", description: "x" }, [
      "description",
    ]);
    expect(updated).toMatchObject({ description: "x", creationStatus: CampaignStatus.DONE });
  });

  test.each<[string, string, Omit<Init<typeof UpdateCampaignRequestSchema>, "updateMask">, string]>(
    [
      [
        "another type of discount",
        "invalid_campaign",
        { campaignId: "c", discount: { type: DiscountType.AMOUNT, amountOff: 1n } },
        "discount",
      ],
      [
        "a gift in a coupon campaign",
        "invalid_campaign",
        { campaignId: "c", gift: { amount: 1n } },
        "gift",
      ],
      [
        "a STANDALONE type",
        "invalid_campaign",
        { campaignId: "c", type: CampaignKind.STANDALONE },
        "type",
      ],
      ["a null discount", "invalid_campaign", { campaignId: "c" }, "discount"],
      [
        "a discount without a value",
        "invalid_voucher",
        { campaignId: "c", discount: {} },
        "discount",
      ],
      [
        "an expiration before the start",
        "invalid_campaign_params",
        { campaignId: "c", expirationDate: instantToProto(NOON - 1) },
        "expiration_date",
      ],
      [
        "an unknown category id",
        "not_found",
        { campaignId: "c", categoryId: "cat_1" },
        "category_id",
      ],
      ["an unknown campaign", "not_found", { campaignId: "camp_unknown" }, "description"],
    ],
  )("rejects %s with %s and changes nothing", async (_name, key, request, path) => {
    const call = newCall();
    const created = await newCoupons(service, call, { name: "c", startDate: instantToProto(NOON) });
    expect(await rejectionKey(update(call, request, [path]))).toBe(key);
    expect(await campaigns.getCampaign({ campaignId: "c" }, call)).toEqual(created);
  });

  test("rejects a protected campaign", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call);
    await db.query("update campaign set protected = true where id = $1", [id]);
    expect(
      await rejectionKey(update(call, { campaignId: id, description: "x" }, ["description"])),
    ).toBe("resource_protected");
  });

  test("updates a promotion, which has no vouchers", async () => {
    const call = newCall();
    const { id } = await newPromotion(service, call);
    const updated = await update(call, { campaignId: id, description: "x" }, ["description"]);
    expect(updated).toMatchObject({ description: "x", promotion: { tiers: [] } });
  });
});

describe("the expiration rules of a loyalty program", () => {
  test("are stored with numbers, kept by updates without them, and removed by null", async () => {
    const call = newCall();
    const sent = { period_type: "MONTH", period_value: "3" };
    const { id: campaignId } = await campaigns.createCampaign(
      {
        name: "club",
        campaignType: CampaignType.LOYALTY_PROGRAM,
        voucher: { loyaltyCard: { points: 7n, expirationRules: sent } },
      },
      call,
    );
    const rulesAfter = async (loyaltyCard: object, paths: string[]) => {
      const { voucher } = await update(call, { campaignId, loyaltyCard }, paths);
      return voucher?.loyaltyCard?.expirationRules;
    };
    const stored = { period_type: "MONTH", period_value: 3 };
    const others = { rounding_value: "none", fixed_day: "" };
    const [card, rules] = ["loyalty_card", "loyalty_card.expiration_rules"];
    expect(await rulesAfter({ points: 8n }, [card])).toEqual(stored);
    expect(await rulesAfter({}, [card, rules])).toBeUndefined();
    expect(await rulesAfter({ points: 9n, expirationRules: sent }, [rules])).toEqual(stored);
    expect(await rulesAfter({}, [rules])).toBeUndefined();
    const { voucher } = await update(call, { campaignId }, [rules]);
    expect(voucher?.loyaltyCard).toMatchObject({ points: 8n });
    expect(await rulesAfter({ expirationRules: sent }, [card, rules])).toEqual(stored);
    expect(await rulesAfter({ expirationRules: { ...sent, ...others } }, [card])).toEqual({
      ...stored,
      ...others,
    });
  });
});

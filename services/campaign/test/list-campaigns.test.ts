import { instantToProto } from "@scrip/mapping";
import { CampaignStatus, CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { afterAll, describe, expect, test } from "vitest";

import { newCall, newCoupons, newPromotion, newTier, NOON, rejectionKey } from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns } = service;

describe("ListCampaigns", () => {
  test("returns pages, newest first, with the tiers of promotions", async () => {
    const call = newCall();
    const first = await newCoupons(service, call);
    const second = await newPromotion(service, { ...call, now: NOON + 1000 });
    const tier = await newTier(service, call, { campaignId: second.id });
    const page = await campaigns.listCampaigns({ limit: 1n }, call);
    expect(page).toMatchObject({
      campaigns: [{ id: second.id, promotion: { tiers: [{ id: tier.id }], total: 1n } }],
      total: 2n,
    });
    const ascending = await campaigns.listCampaigns({ order: "created_at" }, call);
    expect(ascending.campaigns.map(({ id }) => id)).toEqual([first.id, second.id]);
  });

  test("filters by type, status and filters", async () => {
    const call = newCall();
    const coupons = await newCoupons(service, call, { metadata: { a: 1 } });
    const promotion = await newPromotion(service, call);
    await campaigns.disableCampaign({ campaignId: promotion.id }, call);
    const list = async (request: Parameters<typeof campaigns.listCampaigns>[0]) =>
      (await campaigns.listCampaigns(request, call)).campaigns.map(({ id }) => id);
    expect(await list({ campaignType: CampaignType.PROMOTION })).toEqual([promotion.id]);
    expect(await list({ campaignStatus: CampaignStatus.FAILED })).toEqual([]);
    expect(await list({ isReferralCode: true })).toEqual([]);
    const filters = (field: string, operator: string, value: string | number | boolean) => ({
      filters: { [field]: { conditions: { [operator]: value } } },
    });
    expect(await list(filters("active", "$is", false))).toEqual([promotion.id]);
    expect(await list(filters("name", "$is", coupons.name))).toEqual([coupons.id]);
    expect(await list(filters("metadata.a", "$is", 1))).toEqual([coupons.id]);
    const unknown = campaigns.listCampaigns(filters("nothing", "$is", 1), call);
    expect(await rejectionKey(unknown)).not.toBe("not rejected");
  });

  test("filters by the names that clients of the leading system send", async () => {
    const call = newCall();
    const validityTimeframe = { interval: "P7D", duration: "P1D" };
    const coupons = await newCoupons(service, call, {
      category: "Spring",
      startDate: instantToProto(NOON),
      validityTimeframe,
    });
    const gifts = await newCoupons(
      service,
      { ...call, now: NOON + 1000 },
      {
        voucher: { gift: { amount: 100n } },
      },
    );
    await newPromotion(service, { ...call, now: NOON + 2000 });
    const cases: [string, string, string | undefined, string][] = [
      ["campaigns", "$in", coupons.name, coupons.id],
      ["campaign_ids", "$in", gifts.id, gifts.id],
      ["voucher_type", "$is", "GIFT_VOUCHER", gifts.id],
      ["voucher_type", "$is", "DISCOUNT_VOUCHER", coupons.id],
      ["categories", "$is", "Spring", coupons.id],
      ["category_ids", "$is", coupons.categoryId, coupons.id],
      ["validity_timeframe", "$has_value", "", coupons.id],
      ["validity_timeframe.interval", "$is", "P7D", coupons.id],
      ["validity_timeframe.duration", "$is", "P1D", coupons.id],
    ];
    for (const [field, operator, value = "", id] of cases) {
      const filters = { [field]: { conditions: { [operator]: value } } };
      const list = await campaigns.listCampaigns({ filters }, call);
      expect([field, list.campaigns.map((campaign) => campaign.id)]).toEqual([field, [id]]);
    }
    const createdAt = { after: instantToProto(NOON), before: instantToProto(NOON + 2000) };
    const inRange = await campaigns.listCampaigns({ createdAt }, call);
    expect(inRange.campaigns.map(({ id }) => id)).toEqual([gifts.id]);
    const updatedAt = { after: instantToProto(NOON) };
    expect((await campaigns.listCampaigns({ updatedAt }, call)).total).toBe(0n);
  });

  test("returns categories only if they are expanded", async () => {
    const call = newCall();
    await newCoupons(service, call, { category: "Spring" });
    const [plain] = (await campaigns.listCampaigns({}, call)).campaigns;
    expect(plain).toMatchObject({ category: "Spring", categories: [] });
    const [expanded] = (await campaigns.listCampaigns({ expand: ["category"] }, call)).campaigns;
    expect(expanded).toMatchObject({ categories: [{ name: "Spring" }] });
  });
});

describe("GetCampaign", () => {
  test("finds a campaign by id or name, and the id takes precedence", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call, { name: "coupons" });
    await newCoupons(service, call, { name: id });
    expect((await campaigns.getCampaign({ campaignId: "coupons" }, call)).id).toBe(id);
    expect((await campaigns.getCampaign({ campaignId: id }, call)).name).toBe("coupons");
  });

  test("rejects an unknown campaign", async () => {
    const attempt = campaigns.getCampaign({ campaignId: "camp_unknown" }, newCall());
    expect(await rejectionKey(attempt)).toBe("not_found");
  });
});

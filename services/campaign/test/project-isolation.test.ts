import { CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { afterAll, expect, test } from "vitest";

import { newCall, rejectionKey, TEN_PERCENT } from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns, categories, promotions } = service;

test("campaigns, tiers, stacks and categories of another project do not exist for a call", async () => {
  const call = newCall();
  const { id } = await campaigns.createCampaign(
    {
      name: "promotion",
      campaignType: CampaignType.PROMOTION,
      promotion: { tiers: [{ name: "tier", action: { discount: TEN_PERCENT } }] },
    },
    call,
  );
  const [tier] = (await promotions.listCampaignTiers({ campaignId: id }, call)).tiers;
  const tierId = tier!.id;
  const stack = await promotions.createPromotionStack(
    { campaignId: id, name: "stack", tiers: { ids: [tierId] } },
    call,
  );
  const stranger = newCall();
  const category = await categories.createCategory({ name: "c", hierarchy: 1n }, call);
  const own = await campaigns.createCampaign(
    { name: "promotion", campaignType: CampaignType.PROMOTION },
    stranger,
  );
  const attempts = [
    campaigns.getCampaign({ campaignId: id }, stranger),
    campaigns.updateCampaign({ campaignId: id }, stranger),
    campaigns.disableCampaign({ campaignId: id }, stranger),
    campaigns.createCampaignVouchers({ campaignId: id }, stranger),
    promotions.getPromotionTier({ tierId }, stranger),
    promotions.updatePromotionTier({ tierId }, stranger),
    promotions.deletePromotionTier({ tierId }, stranger),
    promotions.disablePromotionTier({ tierId }, stranger),
    promotions.getPromotionStack({ campaignId: id, stackId: stack.id }, stranger),
    promotions.getPromotionStack({ campaignId: own.id, stackId: stack.id }, stranger),
    categories.getCategory({ categoryId: category.id }, stranger),
    categories.updateCategory({ categoryId: category.id, name: "x", hierarchy: 1n }, stranger),
    categories.deleteCategory({ categoryId: category.id }, stranger),
    promotions.createPromotionStack(
      { campaignId: own.id, name: "s", tiers: { ids: [tierId] } },
      stranger,
    ),
  ];
  await Promise.all(
    attempts.map(async (attempt) => expect(await rejectionKey(attempt)).toBe("not_found")),
  );
  expect((await promotions.listPromotionTiers({}, stranger)).total).toBe(0n);
  expect((await promotions.listPromotionStacks({}, stranger)).total).toBe(0n);
  expect((await campaigns.listCampaigns({}, stranger)).total).toBe(1n);
});

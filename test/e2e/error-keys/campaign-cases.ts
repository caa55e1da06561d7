import { type Json, newCode } from "../../stack/api.ts";
import type { ErrorCase } from "./error-case.ts";
import { INVALID_DISCOUNT, DISCOUNT_VOUCHER } from "./fixtures.ts";
import { AMOUNT_OFF, FUTURE, PAST, type Shop } from "./shop.ts";

const CONTRADICTING_DATES = { start_date: FUTURE, expiration_date: PAST };

const TIER = { name: "tier", action: { discount: AMOUNT_OFF } };

const inCampaign = (fields: Json | undefined, body: Json) => async (shop: Shop) => ({
  params: { campaign_id: (await shop.campaign(fields))["id"] },
  body,
});

const campaigns: readonly ErrorCase[] = [
  {
    rpc: "CategoryService.CreateCategory",
    key: "duplicate_found",
    request: async (shop) => {
      const category = { name: newCode("category"), hierarchy: 1 };
      await shop.create("/v1/categories", category);
      return { body: category };
    },
  },
  {
    rpc: "CategoryService.UpdateCategory",
    key: "duplicate_found",
    request: async (shop) => {
      const other = { name: newCode("category"), hierarchy: 1 };
      await shop.create("/v1/categories", other);
      const own = await shop.create("/v1/categories", { ...other, name: newCode("category") });
      return { params: { category_id: own["id"] }, body: other };
    },
  },
  {
    rpc: "CampaignService.CreateCampaign",
    key: "duplicate_found",
    request: async (shop) => ({
      body: { name: (await shop.campaign())["name"], voucher: DISCOUNT_VOUCHER },
    }),
  },
  {
    rpc: "CampaignService.CreateCampaign",
    key: "invalid_campaign",
    request: { body: { name: "without a discount", voucher: {} } },
  },
  {
    rpc: "CampaignService.CreateCampaign",
    key: "invalid_campaign_params",
    request: { body: { name: "over", voucher: DISCOUNT_VOUCHER, ...CONTRADICTING_DATES } },
  },
  {
    rpc: "CampaignService.CreateCampaign",
    key: "invalid_code_config",
    request: {
      body: { name: "no code", voucher: { ...DISCOUNT_VOUCHER, code_config: { length: 0 } } },
    },
  },
  {
    rpc: "CampaignService.CreateCampaign",
    key: "invalid_voucher",
    request: { body: { name: "no amount", voucher: { discount: INVALID_DISCOUNT } } },
  },
  {
    rpc: "CampaignService.UpdateCampaign",
    key: "invalid_campaign",
    request: inCampaign(undefined, { type: "STANDALONE" }),
  },
  {
    rpc: "CampaignService.UpdateCampaign",
    key: "invalid_campaign_params",
    request: inCampaign(undefined, CONTRADICTING_DATES),
  },
  {
    rpc: "CampaignService.UpdateCampaign",
    key: "invalid_voucher",
    request: inCampaign(undefined, { discount: INVALID_DISCOUNT }),
  },
  {
    rpc: "CampaignService.UpdateCampaign",
    key: "metadata_validation_failed",
    project: "schemas",
    request: inCampaign(undefined, { metadata: { wrong: "x" } }),
  },
  {
    rpc: "CampaignActionService.DeleteCampaign",
    key: "resource_protected",
    request: async (shop) => {
      const { id } = await shop.campaign();
      const protect = "update campaign.campaign set protected = true where id = $1";
      await shop.sql(protect, [id]);
      return { params: { campaign_id: id } };
    },
  },
  {
    rpc: "CampaignService.UpdateCampaign",
    key: "resource_protected",
    request: async (shop) => {
      const { id } = await shop.campaign();
      const protect = "update campaign.campaign set protected = true where id = $1";
      await shop.sql(protect, [id]);
      return { params: { campaign_id: id }, body: { description: "changed" } };
    },
  },
  {
    rpc: "CampaignService.CreateCampaignVouchers",
    key: "duplicate_found",
    request: async (shop) => ({
      params: { campaign_id: (await shop.campaign())["id"] },
      body: { code: await shop.voucher() },
    }),
  },
  {
    rpc: "CampaignService.CreateCampaignVouchers",
    key: "invalid_campaign",
    request: inCampaign({ campaign_type: "PROMOTION", voucher: undefined }, {}),
  },
  {
    rpc: "CampaignService.CreateCampaignVouchers",
    key: "invalid_campaign_params",
    request: async (shop) => ({
      params: { campaign_id: (await shop.campaign())["id"] },
      query: { vouchers_count: 5_000_001 },
    }),
  },
  {
    rpc: "CampaignService.CreateCampaignVouchers",
    key: "invalid_code_config",
    request: inCampaign(undefined, { code_config: { length: 0 } }),
  },
  {
    rpc: "CampaignService.CreateCampaignVouchers",
    key: "invalid_voucher",
    request: inCampaign(undefined, CONTRADICTING_DATES),
  },
];

const PROGRAM = { loyalty_card: { points: 0 } };

const inProgram = (body: Json) => async (shop: Shop) => ({
  params: { campaign_id: (await shop.campaign(PROGRAM_FIELDS))["id"] },
  body,
});

const PROGRAM_FIELDS = { campaign_type: "LOYALTY_PROGRAM", voucher: PROGRAM };

const protectedProgram = async (shop: Shop, body: Json) => {
  const { id } = await shop.campaign(PROGRAM_FIELDS);
  await shop.sql("update campaign.campaign set protected = true where id = $1", [id]);
  return { params: { campaign_id: id }, body };
};

const loyaltyPrograms: readonly ErrorCase[] = [
  {
    rpc: "LoyaltyProgramService.CreateCampaign",
    key: "duplicate_found",
    request: async (shop) => ({
      body: { name: (await shop.campaign())["name"], voucher: PROGRAM },
    }),
  },
  {
    rpc: "LoyaltyProgramService.CreateCampaign",
    key: "invalid_campaign",
    request: { body: { name: "another type", campaign_type: "GIFT_VOUCHERS", voucher: PROGRAM } },
  },
  {
    rpc: "LoyaltyProgramService.CreateCampaign",
    key: "invalid_campaign_params",
    request: { body: { name: "over", voucher: PROGRAM, ...CONTRADICTING_DATES } },
  },
  {
    rpc: "LoyaltyProgramService.CreateCampaign",
    key: "invalid_code_config",
    request: { body: { name: "no code", voucher: { ...PROGRAM, code_config: { length: 0 } } } },
  },
  {
    rpc: "LoyaltyProgramService.UpdateCampaign",
    key: "invalid_campaign",
    request: inProgram({ type: "STANDALONE" }),
  },
  {
    rpc: "LoyaltyProgramService.UpdateCampaign",
    key: "invalid_campaign_params",
    request: inProgram(CONTRADICTING_DATES),
  },
  {
    rpc: "LoyaltyProgramService.UpdateCampaign",
    key: "metadata_validation_failed",
    project: "schemas",
    request: inProgram({ metadata: { wrong: "x" } }),
  },
  {
    rpc: "LoyaltyProgramService.UpdateCampaign",
    key: "resource_protected",
    request: (shop) => protectedProgram(shop, { description: "changed" }),
  },
  {
    rpc: "CampaignActionService.DeleteLoyaltyProgram",
    key: "resource_protected",
    request: (shop) => protectedProgram(shop, {}),
  },
];

const promotions: readonly ErrorCase[] = [
  {
    rpc: "PromotionService.CreatePromotionTier",
    key: "invalid_campaign",
    request: inCampaign(undefined, TIER),
  },
  {
    rpc: "PromotionService.CreatePromotionTier",
    key: "invalid_campaign_params",
    request: async (shop) => ({
      params: { campaign_id: (await shop.promotion())["id"] },
      body: { ...TIER, ...CONTRADICTING_DATES },
    }),
  },
  {
    rpc: "PromotionService.CreatePromotionTier",
    key: "invalid_voucher",
    request: async (shop) => ({
      params: { campaign_id: (await shop.promotion())["id"] },
      body: { ...TIER, action: { discount: INVALID_DISCOUNT } },
    }),
  },
  {
    rpc: "PromotionService.UpdatePromotionTier",
    key: "invalid_campaign_params",
    request: async (shop) => ({
      params: { tier_id: (await shop.tier())["id"] },
      body: { ...TIER, ...CONTRADICTING_DATES },
    }),
  },
  {
    rpc: "PromotionService.UpdatePromotionTier",
    key: "invalid_voucher",
    request: async (shop) => ({
      params: { tier_id: (await shop.tier())["id"] },
      body: { ...TIER, action: { discount: INVALID_DISCOUNT } },
    }),
  },
  {
    rpc: "PromotionService.DeletePromotionTier",
    key: "resource_in_use",
    request: async (shop) => {
      const campaign = await shop.promotion();
      const ids = [(await shop.tier({}, campaign))["id"], (await shop.tier({}, campaign))["id"]];
      const stack = { name: "stack", tiers: { ids } };
      await shop.create(`/v1/promotions/${campaign["id"]}/stacks`, stack);
      return { params: { tier_id: ids[0] } };
    },
  },
  {
    rpc: "PromotionService.CreatePromotionStack",
    key: "invalid_campaign",
    request: inCampaign(undefined, { name: "stack", tiers: { ids: ["promo_none"] } }),
  },
  {
    rpc: "PromotionService.CreatePromotionStack",
    key: "invalid_campaign_params",
    project: "closed",
    request: async (shop) => {
      const { id } = await shop.promotion();
      await shop.sql(
        `insert into campaign.promotion_stack
           (project_id, id, campaign_id, name, tier_ids, metadata, created_at)
         select $1, 'stack_' || n, $2, 'stack', array['promo_none'], '{}', now()
           from generate_series(1, 1000) as n`,
        [shop.projectId, id],
      );
      return {
        params: { campaign_id: id },
        body: { name: "stack", tiers: { ids: ["promo_none"] } },
      };
    },
  },
];

export const CAMPAIGN_CASES: readonly ErrorCase[] = [
  ...campaigns,
  ...loyaltyPrograms,
  ...promotions,
];

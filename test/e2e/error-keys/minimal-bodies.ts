import type { Json } from "../../stack/api.ts";
import { AMOUNT_OFF, FUTURE } from "./shop.ts";

const TIER = { name: "tier", action: { discount: AMOUNT_OFF } };
const COIN = { type: "COIN", parameters: { coin: { exchange_ratio: 1 } } };
const DISCOUNT_VOUCHER = { type: "DISCOUNT_VOUCHER", discount: AMOUNT_OFF };
const ANN = { source_id: "ann" };
const RULES = {
  "1": { name: "order.amount", conditions: { $more_than: [1] } },
  logic: "1",
};

/** What an RPC requires in its body; RPCs that are not listed require nothing. */
export const MINIMAL_BODIES: Readonly<Record<string, Json>> = {
  "TokenService.RevokeToken": { access_token: "none" },
  "ProjectService.SetClock": { now: FUTURE },
  "ProjectService.CreateApiKey": { name: "key", kind: "server" },
  "MetadataSchemaService.CreateProjectMetadataSchema": {
    related_object: "voucher",
    properties: { color: { type: "string", optional: true } },
  },
  "VoucherService.CreateVoucher": DISCOUNT_VOUCHER,
  "TransactionService.AdjustBalance": { amount: 1 },
  "MemberService.AdjustMemberBalance": { points: 1 },
  "MemberService.TransferMemberPoints": [{ code: "none", points: 1 }],
  "PublicationService.CreatePublication": { voucher: "none", customer: ANN },
  "PublicationService.CreateMember": { customer: ANN },
  "ReferralTierService.CreateReferralTier": {
    name: "tier",
    condition: { type: "EACH_UNIQUE_REFEREE" },
    reward: { related_object_parent: { id: "camp_none" }, type: "GIFT_VOUCHER", amount: 1 },
  },
  "ReferralService.CreateHolders": { holders: [ANN] },
  "CategoryService.CreateCategory": { name: "category", hierarchy: 1 },
  "CategoryService.UpdateCategory": { name: "category", hierarchy: 1 },
  "CampaignService.CreateCampaign": { name: "campaign", voucher: DISCOUNT_VOUCHER },
  "LoyaltyProgramService.CreateCampaign": {
    name: "program",
    voucher: { loyalty_card: { points: 0 } },
  },
  "PromotionService.CreatePromotionTier": TIER,
  "PromotionService.UpdatePromotionTier": TIER,
  "PromotionService.CreatePromotionStack": { name: "stack", tiers: { ids: ["promo_none"] } },
  "PromotionService.UpdatePromotionStack": { name: "stack", tiers: { ids: ["promo_none"] } },
  "CustomerService.CreateCustomer": ANN,
  "CustomEventService.CreateCustomEvent": { event: "viewed", customer: ANN },
  "CustomEventService.CreateCustomEventSchema": { name: "viewed" },
  "EarningRuleService.UpdateEarningRule": {},
  "PendingPointsService.AdjustPendingPoints": { points: 1 },
  "LoyaltyTierService.UpdateLoyaltyTier": {},
  "SegmentService.CreateSegment": { name: "segment", type: "static", customers: ["cust_none"] },
  "RewardService.CreateReward": COIN,
  "RewardService.UpdateReward": {},
  "RewardService.CreateRewardAssignment": { campaign: "camp_none" },
  "ValidationService.Validate": { redeemables: [{ object: "voucher", id: "none" }] },
  "ValidationService.Redeem": { redeemables: [{ object: "voucher", id: "none" }] },
  "QualificationService.EstimatePoints": { customer: ANN, order: { amount: 1 } },
  "ProductService.CreateProduct": { name: "Tea" },
  "ProductService.CreateSku": { sku: "Green tea" },
  "ProductCollectionService.CreateProductCollection": {
    name: "collection",
    type: "STATIC",
    products: [{ id: "prod_none", object: "product" }],
  },
  "ValidationRuleService.CreateValidationRule": { name: "rule", rules: RULES },
  "ValidationRuleService.UpdateValidationRule": { name: "rule" },
  "ValidationRuleService.CreateAssignment": {
    related_object_type: "voucher",
    related_object_id: "none",
  },
  "ImportService.ImportCampaignVouchers": [{ code: "A-CODE" }],
  "WebhookService.CreateWebhook": {
    target_url: "https://shop.example/",
    events: ["voucher.published"],
  },
  "WebhookService.ReplayWebhook": { since: "2026-01-01T00:00:00Z" },
};

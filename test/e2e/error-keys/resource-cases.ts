import { type Json, newCode } from "../../stack/api.ts";
import { createLoyaltyProgram } from "../../stack/loyalty-program.ts";
import type { CaseRequest, ErrorCase } from "./error-case.ts";
import { AMOUNT_OFF, FUTURE, PAST, type Shop } from "./shop.ts";

const INVALID_DISCOUNT = { type: "PERCENT" };
const CONTRADICTING_DATES = { start_date: FUTURE, expiration_date: PAST };
const DISCOUNT_VOUCHER = { type: "DISCOUNT_VOUCHER", discount: AMOUNT_OFF };
const TIER = { name: "tier", action: { discount: AMOUNT_OFF } };
const RULES = { "1": { name: "order.amount", conditions: { $more_than: [1] } }, logic: "1" };
const UNKNOWN_RULES = { "1": { name: "weather.sunny", conditions: { $is: [true] } }, logic: "1" };

const tokens: readonly ErrorCase[] = [
  {
    rpc: "TokenService.CreateToken",
    key: "missing_parameters",
    request: { body: { grant_type: "client_credentials" } },
  },
  {
    rpc: "TokenService.CreateToken",
    key: "invalid_grant_type",
    request: { body: { grant_type: "password", scope: "api" } },
  },
  {
    rpc: "TokenService.CreateToken",
    key: "invalid_scope",
    request: { body: { grant_type: "client_credentials", scope: "everything" } },
  },
  { rpc: "TokenService.IntrospectToken", key: "missing_parameters", request: {} },
  { rpc: "TokenService.RevokeToken", key: "missing_parameters", request: {} },
  {
    rpc: "TokenService.RevokeToken",
    key: "not_found",
    isBodiless: true,
    request: { body: { access_token: "none" } },
  },
];

const schemaOf = (resource: string, type: string, more: Json = {}): Json => ({
  related_object: resource,
  properties: { field: { type, optional: true, ...more } },
});

const management: readonly ErrorCase[] = [
  { rpc: "ProjectService.SetClock", key: "forbidden", request: { body: { now: FUTURE } } },
  {
    rpc: "MetadataSchemaService.CreateProjectMetadataSchema",
    key: "duplicate_found",
    project: "schemas",
    request: { body: schemaOf("voucher", "string") },
  },
  {
    rpc: "MetadataSchemaService.DeleteProjectMetadataSchema",
    key: "resource_in_use",
    request: async ({ management: api, projectId }) => {
      const path = `/management/v1/projects/${projectId}/metadata-schemas`;
      const { body } = await api.post(path, schemaOf("address", "string"));
      await api.post(path, schemaOf("order", "nested", { object_type: "address" }));
      return { params: { schema_id: body["id"] } };
    },
  },
  {
    rpc: "StackingRulesService.CreateStackingRules",
    key: "stacking_rules_exist",
    project: "partial",
    request: {},
  },
];

const vouchers: readonly ErrorCase[] = [
  {
    rpc: "VoucherService.CreateVoucher",
    key: "duplicate_found",
    request: async (shop) => ({ body: { ...DISCOUNT_VOUCHER, code: await shop.voucher() } }),
  },
  {
    rpc: "VoucherService.CreateVoucher",
    key: "invalid_campaign",
    request: async (shop) => ({
      body: { ...DISCOUNT_VOUCHER, campaign_id: (await shop.promotion())["id"] },
    }),
  },
  {
    rpc: "VoucherService.CreateVoucher",
    key: "invalid_code_config",
    request: { body: { ...DISCOUNT_VOUCHER, code_config: { length: 0 } } },
  },
  {
    rpc: "VoucherService.CreateVoucher",
    key: "invalid_voucher",
    request: { body: { type: "DISCOUNT_VOUCHER", discount: INVALID_DISCOUNT } },
  },
  {
    rpc: "VoucherService.UpdateVoucher",
    key: "invalid_voucher",
    request: async (shop) => ({
      params: { code: await shop.voucher() },
      body: { type: "GIFT_VOUCHER" },
    }),
  },
  {
    rpc: "VoucherService.GetBarcode",
    key: "invalid_code_config",
    request: async (shop) => {
      const { assets } = await shop.create("/v1/vouchers", {
        ...DISCOUNT_VOUCHER,
        code: newCode("ÄÖÜ"),
      });
      return { params: { id: assets.barcode.id } };
    },
  },
  {
    rpc: "TransactionService.ListCardTransactions",
    key: "invalid_voucher",
    request: async (shop) => ({ params: { code: await shop.voucher() } }),
  },
];

const pages = [
  "RedemptionService.ListVoucherRedemptions",
  "RedemptionService.ListRedemptions",
  "PublicationService.ListPublications",
  "PublicationService.ListVoucherPublications",
].map((rpc): ErrorCase => ({
  rpc,
  key: "page_over_limit",
  request: async (shop) => ({ params: { code: await shop.voucher() }, query: { page: 1001 } }),
}));

const ANN = { source_id: "ann" };

/** A voucher that another customer holds. */
const publishedVoucher = async (shop: Shop, fields: Json = {}): Promise<string> => {
  const voucher = await shop.voucher(fields);
  await shop.create("/v1/publications", { voucher, customer: { source_id: "bob" } });
  return voucher;
};

/** A source id that a publication has. */
const usedSourceId = async (shop: Shop): Promise<string> => {
  const source_id = newCode("publication");
  const voucher = await shop.voucher();
  await shop.create("/v1/publications", { voucher, customer: { source_id: "bob" }, source_id });
  return source_id;
};

const program = (shop: Shop): Promise<string> =>
  createLoyaltyProgram(shop.api).then(({ campaignId }) => campaignId);

/** A card of the programme that nobody holds. */
const freeCard = async (shop: Shop, campaignId: string): Promise<string> =>
  (await shop.create(`/v1/campaigns/${campaignId}/vouchers`))["code"];

/** A loyalty programme that issues no cards by itself, so that it runs out of them. */
const programWithoutCards = async (shop: Shop): Promise<string> => {
  const { id } = await shop.campaign({
    campaign_type: "LOYALTY_PROGRAM",
    type: "STATIC",
    vouchers_count: 0,
    voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 10 } },
  });
  return id;
};

const publications: readonly ErrorCase[] = [
  {
    rpc: "PublicationService.CreatePublication",
    key: "forbidden",
    project: "closed",
    side: "client",
    request: { body: { voucher: "none", customer: ANN } },
  },
  {
    rpc: "PublicationService.CreatePublication",
    key: "missing_vouchers",
    request: { body: { customer: ANN } },
  },
  {
    rpc: "PublicationService.CreatePublication",
    key: "too_many_vouchers_requested",
    request: async (shop) => {
      const { name } = await shop.campaign();
      return { body: { customer: ANN, campaign: { name, count: 2 }, source_id: "one" } };
    },
  },
  {
    rpc: "PublicationService.CreatePublication",
    key: "duplicate_source_id",
    request: async (shop) => ({
      body: {
        customer: ANN,
        voucher: await shop.voucher(),
        source_id: await usedSourceId(shop),
      },
    }),
  },
  {
    rpc: "PublicationService.CreatePublication",
    key: "voucher_already_published",
    request: async (shop) => ({ body: { customer: ANN, voucher: await publishedVoucher(shop) } }),
  },
  {
    rpc: "PublicationService.CreatePublication",
    key: "voucher_cannot_be_published",
    request: async (shop) => {
      const campaignId = await program(shop);
      const customer = { source_id: newCode("member") };
      await shop.create(`/v1/loyalties/${campaignId}/members`, { customer });
      return { body: { customer, voucher: await freeCard(shop, campaignId) } };
    },
  },
  {
    rpc: "PublicationService.CreatePublication",
    key: "no_voucher_suitable_for_publication",
    request: async (shop) => {
      const { name } = await shop.campaign({ type: "STATIC", vouchers_count: 0 });
      return { body: { customer: ANN, campaign: { name } } };
    },
  },
  {
    rpc: "PublicationService.CreateMember",
    key: "duplicate_source_id",
    request: async (shop) => ({
      params: { campaign_id: await program(shop) },
      body: { customer: ANN, source_id: await usedSourceId(shop) },
    }),
  },
  {
    rpc: "PublicationService.CreateMember",
    key: "voucher_already_published",
    request: async (shop) => {
      const campaignId = await program(shop);
      const voucher = await freeCard(shop, campaignId);
      const member = { customer: { source_id: "bob" }, voucher };
      await shop.create(`/v1/loyalties/${campaignId}/members`, member);
      return { params: { campaign_id: campaignId }, body: { customer: ANN, voucher } };
    },
  },
  {
    rpc: "PublicationService.CreateMember",
    key: "voucher_cannot_be_published",
    request: async (shop) => {
      const campaignId = await program(shop);
      await shop.create(`/v1/loyalties/${campaignId}/members`, { customer: ANN });
      const voucher = await freeCard(shop, campaignId);
      return { params: { campaign_id: campaignId }, body: { customer: ANN, voucher } };
    },
  },
  {
    rpc: "PublicationService.CreateMember",
    key: "no_voucher_suitable_for_publication",
    request: async (shop) => ({
      params: { campaign_id: await programWithoutCards(shop) },
      body: { customer: ANN },
    }),
  },
];

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
      query: { vouchers_count: 101 },
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

const customers: readonly ErrorCase[] = [
  {
    rpc: "SegmentService.DeleteSegment",
    key: "resource_in_use",
    request: async (shop) => {
      const { id: customer } = await shop.create("/v1/customers", { source_id: newCode("ann") });
      const segment = { name: newCode("segment"), type: "static", customers: [customer] };
      const { id } = await shop.create("/v1/segments", segment);
      await shop.rule("customer.segment", { $is: [id] });
      return { params: { segment_id: id } };
    },
  },
];

const MUG = { type: "MATERIAL", parameters: { product: { id: "prod_mug" } } };

/** A reward of vouchers needs their balance. */
const rewardWithoutBalance = async (shop: Shop): Promise<Json> => {
  const { id } = await shop.campaign({
    campaign_type: "GIFT_VOUCHERS",
    voucher: { type: "GIFT_VOUCHER", gift: { amount: 100 } },
  });
  return { type: "CAMPAIGN", parameters: { campaign: { id } } };
};

/** A reward, and an assignment of it that exists. */
async function assignedReward(shop: Shop): Promise<{ id: string; assignment: Json }> {
  const { id } = await shop.create("/v1/rewards", MUG);
  const price = { parameters: { loyalty: { points: 5 } } };
  const assignment = { campaign: await program(shop), ...price };
  await shop.create(`/v1/rewards/${id}/assignments`, assignment);
  return { id, assignment };
}

const rewards: readonly ErrorCase[] = [
  {
    rpc: "RewardService.CreateReward",
    key: "invalid_balance",
    request: async (shop) => ({ body: await rewardWithoutBalance(shop) }),
  },
  {
    rpc: "RewardService.UpdateReward",
    key: "invalid_balance",
    request: async (shop) => {
      const parameters = { campaign: { id: (await shop.campaign())["id"] } };
      const { id } = await shop.create("/v1/rewards", { type: "CAMPAIGN", parameters });
      return { params: { reward_id: id }, body: await rewardWithoutBalance(shop) };
    },
  },
  {
    rpc: "RewardService.DeleteReward",
    key: "resource_in_use",
    request: async (shop) => ({ params: { reward_id: (await assignedReward(shop)).id } }),
  },
  {
    rpc: "RewardService.CreateRewardAssignment",
    key: "duplicate_found",
    request: async (shop) => {
      const { id, assignment } = await assignedReward(shop);
      return { params: { reward_id: id }, body: assignment };
    },
  },
  {
    rpc: "RewardService.CreateRewardAssignment",
    key: "missing_param",
    request: async (shop) => ({
      params: { reward_id: (await shop.create("/v1/rewards", MUG))["id"] },
      body: { campaign: await program(shop) },
    }),
  },
];

/** An order of the project, and its source id. */
const order = (shop: Shop): Promise<Json> =>
  shop.create("/v1/orders", { source_id: newCode("order"), amount: 1000 });

/** An order that another request works on. */
const claimedOrder = async (shop: Shop): Promise<Json> => {
  const made = await order(shop);
  await claimOrder(shop, made["id"]);
  return made;
};

const claimOrder = (shop: Shop, id: string): Promise<void> =>
  shop.sql(
    `update validation.shop_order
        set claimed_by = 'another request', claimed_until = now() + interval '10 minutes'
      where project_id = $1 and id = $2`,
    [shop.projectId, id],
  );

/** Each line is in bounds, and their sum is not. */
const TOO_LARGE = { items: [{ amount: Number.MAX_SAFE_INTEGER }, { amount: 1 }] };

/** Two SKUs of one product. */
async function twoSkus(shop: Shop): Promise<{ product: Json; skus: readonly [Json, Json] }> {
  const product = await shop.product({ attributes: ["color"] });
  const path = `/v1/products/${product["id"]}/skus`;
  const create = (): Promise<Json> =>
    shop.create(path, { sku: "tea", source_id: newCode("sku"), attributes: { color: "green" } });
  return { product, skus: [await create(), await create()] };
}

const catalogue: readonly ErrorCase[] = [
  { rpc: "OrderService.CreateOrder", key: "invalid_order", request: { body: TOO_LARGE } },
  {
    rpc: "OrderService.CreateOrder",
    key: "duplicate_found",
    request: async (shop) => ({
      body: {
        id: (await order(shop))["id"],
        source_id: (await order(shop))["source_id"],
      },
    }),
  },
  {
    rpc: "OrderService.CreateOrder",
    key: "multiple_requests",
    request: async (shop) => ({
      body: { source_id: (await claimedOrder(shop))["source_id"], amount: 1 },
    }),
  },
  {
    rpc: "OrderService.UpdateOrder",
    key: "duplicate_found",
    request: async (shop) => ({
      params: { order_id: (await order(shop))["id"] },
      body: { source_id: (await order(shop))["source_id"] },
    }),
  },
  {
    rpc: "OrderService.UpdateOrder",
    key: "invalid_order",
    request: async (shop) => ({
      params: { order_id: (await order(shop))["id"] },
      body: TOO_LARGE,
    }),
  },
  {
    rpc: "OrderService.UpdateOrder",
    key: "multiple_requests",
    request: async (shop) => ({
      params: { order_id: (await claimedOrder(shop))["id"] },
      body: { amount: 1 },
    }),
  },
  {
    rpc: "ProductService.CreateProduct",
    key: "duplicate_found",
    request: async (shop) => ({
      body: {
        id: (await shop.product())["id"],
        source_id: (await shop.product())["source_id"],
      },
    }),
  },
  {
    rpc: "ProductService.UpdateProduct",
    key: "duplicate_found",
    request: async (shop) => ({
      params: { product_id: (await shop.product())["id"] },
      body: { source_id: (await shop.product())["source_id"] },
    }),
  },
  {
    rpc: "ProductService.DeleteProduct",
    key: "resource_in_use",
    request: async (shop) => {
      const { id } = await shop.product();
      const products = [{ id, object: "product" }];
      const collection = { name: "collection", type: "STATIC", products };
      await shop.create("/v1/product-collections", collection);
      return { params: { product_id: id } };
    },
  },
  {
    rpc: "ProductService.CreateSku",
    key: "duplicate_found",
    request: async (shop) => {
      const { product, skus } = await twoSkus(shop);
      const body = { id: skus[0]["id"], source_id: skus[1]["source_id"] };
      return { params: { product_id: product["id"] }, body };
    },
  },
  {
    rpc: "ProductService.CreateSku",
    key: "invalid_sku",
    request: async (shop) => ({
      params: { product_id: (await shop.product())["id"] },
      body: { sku: "tea", attributes: { size: "L" } },
    }),
  },
  {
    rpc: "ProductService.UpdateSku",
    key: "duplicate_found",
    request: async (shop) => {
      const { product, skus } = await twoSkus(shop);
      const params = { product_id: product["id"], sku_id: skus[0]["id"] };
      return { params, body: { source_id: skus[1]["source_id"] } };
    },
  },
  {
    rpc: "ProductService.UpdateSku",
    key: "invalid_sku",
    request: async (shop) => {
      const { product, skus } = await twoSkus(shop);
      const params = { product_id: product["id"], sku_id: skus[0]["id"] };
      return { params, body: { attributes: { size: "L" } } };
    },
  },
  {
    rpc: "ProductCollectionService.DeleteProductCollection",
    key: "resource_in_use",
    request: async (shop) => {
      const products = [{ id: (await shop.product())["id"], object: "product" }];
      const collection = { name: "collection", type: "STATIC", products };
      const { id } = await shop.create("/v1/product-collections", collection);
      await shop.rule("product.id", { $is: [id] });
      return { params: { product_collection_id: id } };
    },
  },
];

const rules: readonly ErrorCase[] = [
  {
    rpc: "ValidationRuleService.CreateValidationRule",
    key: "invalid_validation_rules",
    request: { body: { name: "rule", rules: UNKNOWN_RULES } },
  },
  {
    rpc: "ValidationRuleService.UpdateValidationRule",
    key: "invalid_validation_rules",
    request: async (shop) => ({
      params: { validation_rule_id: await shop.rule("order.amount", { $more_than: [1] }) },
      body: { rules: UNKNOWN_RULES },
    }),
  },
  {
    rpc: "ValidationRuleService.DeleteValidationRule",
    key: "resource_in_use",
    request: async (shop) => {
      const { id } = await shop.create("/v1/validation-rules", { name: "rule", rules: RULES });
      await shop.voucher({ validation_rules: [id] });
      return { params: { validation_rule_id: id } };
    },
  },
  {
    rpc: "ValidationRuleService.CreateAssignment",
    key: "duplicate_found",
    request: async (shop) => {
      const { id } = await shop.create("/v1/validation-rules", { name: "rule", rules: RULES });
      const code = await shop.voucher({ validation_rules: [id] });
      const body = { related_object_type: "voucher", related_object_id: code };
      return { params: { validation_rule_id: id }, body };
    },
  },
];

const voucherNamed = (id: string): Json => ({ object: "voucher", id });

const redeemableLists = ["ValidationService.Validate", "ValidationService.Redeem"].flatMap(
  (rpc): ErrorCase[] => [
    {
      rpc,
      key: "duplicated_redeemables",
      request: { body: { redeemables: [voucherNamed("A"), voucherNamed("A")] } },
    },
    {
      rpc,
      key: "invalid_redeemables",
      request: {
        body: { redeemables: [voucherNamed("A"), { object: "promotion_stack", id: "stack_1" }] },
      },
    },
  ],
);

const orders = ["QualificationService.Qualify", "ValidationService.ValidatePromotions"].flatMap(
  (rpc): ErrorCase[] => [
    { rpc, key: "invalid_order", request: { body: { order: { amount: -1 } } } },
    {
      rpc,
      key: "ambiguous_tracking_id",
      request: { body: { customer: ANN, tracking_id: "bob" } },
    },
  ],
);

const redemptions: readonly ErrorCase[] = [
  {
    rpc: "ValidationService.RedeemCode",
    key: "forbidden",
    project: "closed",
    request: { query: { code: "none" } },
  },
  {
    rpc: "ValidationService.Redeem",
    key: "forbidden",
    project: "closed",
    side: "client",
    request: { body: { redeemables: [voucherNamed("none")] } },
  },
  {
    rpc: "ValidationService.Redeem",
    key: "no_applicable_redeemables",
    project: "partial",
    request: async (shop) => ({
      body: { redeemables: [voucherNamed(await shop.voucher({ active: false }))] },
    }),
  },
];

/** Qualifications name the rejections of what would apply after a change, with hints. */
const qualification = (
  key: string,
  candidate: (shop: Shop) => Promise<unknown>,
  request: Json = {},
): ErrorCase => ({
  rpc: "QualificationService.Qualify",
  key,
  place: "rejection",
  project: "qualification",
  request: async (shop) => {
    await candidate(shop);
    return { body: { ...request, options: { expand: ["hints"], limit: 50 } } };
  },
});

const voucherWithRule =
  (...rule: Parameters<Shop["rule"]>) =>
  async (shop: Shop) =>
    shop.voucher({ validation_rules: [await shop.rule(...rule)] });

const AT_LEAST_18 = { $more_than_or_equal: [18] };
const OTHER_DAY = (new Date().getUTCDay() + 3) % 7;

const qualifications: readonly ErrorCase[] = [
  qualification("voucher_not_active", (shop) => shop.voucher({ start_date: FUTURE })),
  qualification("voucher_not_active_now", (shop) =>
    shop.voucher({ validity_day_of_week: [OTHER_DAY] }),
  ),
  qualification("promotion_not_active_now", (shop) => shop.tier({ start_date: FUTURE })),
  qualification("missing_amount", voucherWithRule("order.amount", AT_LEAST_18)),
  qualification("order_rules_violated", voucherWithRule("order.amount", AT_LEAST_18), {
    order: { amount: 17 },
  }),
  qualification(
    "customer_rules_violated",
    voucherWithRule("customer.metadata", AT_LEAST_18, "age"),
    { customer: { source_id: "ann", metadata: { age: 17 } } },
  ),
  qualification(
    "redemption_rules_violated",
    voucherWithRule("redemption.metadata", AT_LEAST_18, "age"),
    { metadata: { age: 17 } },
  ),
];

const ofRedemption = (id: string, body: Json = {}): CaseRequest => ({
  params: { redemption_id: id },
  body,
});

const redeem = async (shop: Shop, count = 1): Promise<Json> => {
  const codes = await Promise.all(Array.from({ length: count }, () => shop.voucher()));
  return shop.create("/v1/redemptions", {
    redeemables: codes.map(voucherNamed),
    order: { source_id: newCode("order"), amount: 1000 },
  });
};

/** The redemption of one voucher. */
const redemption = async (shop: Shop): Promise<Json> =>
  (await redeem(shop))["redemptions"][0] as Json;

const rollbacks = [
  "ValidationService.RollbackRedemption",
  "ValidationService.RollbackRedemptions",
].flatMap((rpc): ErrorCase[] => [
  {
    rpc,
    key: "already_rolled_back",
    request: async (shop) => {
      const { id } = await redemption(shop);
      await shop.create(`/v1/redemptions/${id}/rollback`);
      return ofRedemption(id);
    },
  },
  {
    rpc,
    key: "invalid_redemption",
    request: async (shop) => {
      const code = await shop.voucher({ active: false });
      const failed = await shop.api.post(`/v1/vouchers/${code}/redemption`, {});
      return ofRedemption(failed.body["resource_id"]);
    },
  },
  {
    rpc,
    key: "invalid_redemption_parent",
    request: async (shop) => ofRedemption((await redeem(shop, 2))["redemptions"][0].id),
  },
  {
    rpc,
    key: "invalid_customer",
    request: async (shop) => {
      const { id: customer } = await shop.create("/v1/customers", { source_id: newCode("ann") });
      return ofRedemption((await redemption(shop))["id"], { customer: { id: customer } });
    },
  },
  {
    rpc,
    key: "invalid_order",
    request: async (shop) =>
      ofRedemption((await redemption(shop))["id"], { order: { id: (await order(shop))["id"] } }),
  },
  {
    rpc,
    key: "invalid_rollback_params",
    project: "sandbox",
    request: async (shop) => {
      const clock = `/management/v1/projects/${shop.projectId}/clock`;
      await shop.management.put(clock, { now: "2030-01-01T00:00:00Z" });
      const { id } = await redemption(shop);
      await shop.management.put(clock, { now: "2030-04-02T00:00:00Z" });
      return ofRedemption(id);
    },
  },
  {
    rpc,
    key: "multiple_requests",
    request: async (shop) => {
      const { id, order: ordered } = await redemption(shop);
      await claimOrder(shop, ordered.id);
      return ofRedemption(id);
    },
  },
]);

/** Keys with a cause of their own; `not_found`, metadata and rejected redeemables have generic cases. */
export const RESOURCE_CASES: readonly ErrorCase[] = [
  ...tokens,
  ...management,
  ...vouchers,
  ...pages,
  ...publications,
  ...campaigns,
  ...promotions,
  ...customers,
  ...rewards,
  ...catalogue,
  ...rules,
  ...redeemableLists,
  ...orders,
  ...redemptions,
  ...qualifications,
  ...rollbacks,
];

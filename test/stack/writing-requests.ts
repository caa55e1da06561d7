import { type Json, managementApi, newCode, newProject, type StackAccess } from "./api.ts";
import { referralTierRows } from "./referral-tier-requests.ts";
import { orderAbove, voucherBody } from "./rule-builders.ts";
import { exportRows, importRows, webhookRows } from "./writing-export-requests.ts";
import { createFixtures, type Fixtures, ORDER, TIER } from "./writing-fixtures.ts";
import { gatewayRows } from "./writing-gateway-requests.ts";
import { earningRows } from "./writing-loyalty-requests.ts";

/** A valid request of an RPC that a POST or PUT path is bound to. */
export type WritingRequest = {
  /** The RPC, `PublicationService.CreatePublication`; with what is special about the request after a space. */
  readonly rpc: string;
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly body: Json | readonly Json[];
  readonly headers: Readonly<Record<string, string>>;
  /** Counts the effects: a statement over the database of all services, and its result after one request. */
  readonly effect?: {
    readonly sql: string;
    readonly values: readonly string[];
    readonly count: number;
  };
};

type Row = Omit<WritingRequest, "rpc" | "headers" | "body"> & {
  readonly body?: Json | readonly Json[];
  readonly by?: "server" | "management" | "client";
};

/** Rows by RPC, for a new project. The contract test requires one for each writing RPC. */
export async function writingRequests(stack: StackAccess): Promise<readonly WritingRequest[]> {
  const {
    id: projectId,
    api,
    clientSide,
  } = await newProject(stack, {
    sandbox: true,
    client_trusted_domains: ["*"],
    client_redeem_enabled: true,
  });
  const management = managementApi(stack);
  const other = await newProject(stack);
  const fixtures = await createFixtures(api, management, { projectId, otherId: other.id });
  const headers = {
    server: api.headers,
    management: management.headers,
    client: (await clientSide()).headers,
  };
  return Object.entries(rowsOf(fixtures, projectId)).map(
    ([rpc, { by = "server", body = {}, ...row }]) => ({ rpc, body, headers: headers[by], ...row }),
  );
}

function rowsOf(fixtures: Fixtures, projectId: string): Record<string, Row> {
  const tag = newCode("tag");
  /** The number of rows of the project that match. */
  const rows = (table: string, condition = "true", count = 1, values: readonly string[] = []) => ({
    effect: {
      sql: `select count(*)::int as count from ${table} where project_id = $1 and ${condition}`,
      values: [projectId, ...values],
      count,
    },
  });
  const post = (path: string, body: Json | readonly Json[] = {}): Row => ({
    method: "POST",
    path,
    body,
  });
  const put = (path: string, body: Json = {}): Row => ({ method: "PUT", path, body });
  return {
    ...gatewayRows(fixtures, { projectId, post, put }),
    ...voucherRows(fixtures, { tag, post, put, rows }),
    ...campaignRows(fixtures, { tag, post, put, rows }),
    ...loyaltyRows(fixtures, { tag, post, put, rows }),
    ...decisionRows(fixtures, { tag, post, put, rows }),
    ...catalogueRows(fixtures, { tag, post, put, rows }),
    ...exportRows(fixtures, { post, rows }),
    ...earningRows(fixtures.loyalty, { post, put, rows }),
    ...importRows(fixtures, { post, rows }),
    ...webhookRows(fixtures, projectId, { post, put, rows }),
  };
}

type Rows = (
  table: string,
  condition?: string,
  count?: number,
  values?: readonly string[],
) => Pick<Row, "effect">;
type Tools = {
  readonly tag: string;
  readonly post: (path: string, body?: Json) => Row;
  readonly put: (path: string, body?: Json) => Row;
  readonly rows: Rows;
};

function voucherRows(
  { codes, rule, published, program, customer, gift, referralCode }: Fixtures,
  { tag, post, put, rows }: Tools,
): Record<string, Row> {
  const tagged = (count = 1) => rows("voucher.voucher", "metadata ->> 'tag' = $2", count, [tag]);
  return {
    "VoucherService.CreateVoucher": {
      ...post("/v1/vouchers", {
        type: "GIFT_VOUCHER",
        gift: { amount: 5_000 },
        category: `${tag} new`,
        validation_rules: [rule],
        metadata: { tag },
      }),
      ...tagged(),
    },
    "VoucherService.CreateVoucher with assignments": {
      ...post("/v1/vouchers", voucherBody({ code: tag, validation_rules: [rule] })),
      ...rows(
        "validation.validation_rule_assignment",
        "object_id = (select id from voucher.voucher where project_id = $1 and code = $2)",
        1,
        [tag],
      ),
    },
    "VoucherService.CreateVoucher in a campaign": {
      ...post("/v1/vouchers", { campaign: published["name"], metadata: { own: tag } }),
      ...rows("voucher.voucher", "metadata ->> 'own' = $2", 1, [tag]),
    },
    "VoucherService.UpdateVoucher": put(`/v1/vouchers/${codes[0]}`, { metadata: { changed: 1 } }),
    "VoucherService.EnableVoucher": post(`/v1/vouchers/${codes[1]}/enable`),
    "VoucherService.DisableVoucher": post(`/v1/vouchers/${codes[2]}/disable`),
    "TransactionService.AdjustBalance": {
      ...post(`/v1/vouchers/${gift}/balance`, { amount: 50 }),
      ...rows(
        "voucher.voucher_ledger_entry",
        "amount = 50 and voucher_id = (select id from voucher.voucher where project_id = $1 and code = $2)",
        1,
        [gift],
      ),
    },
    "PublicationService.CreatePublication": {
      ...post("/v1/publications", {
        customer: { id: customer },
        campaign: { name: published["name"], count: 1 },
      }),
      ...rows("voucher.publication", "campaign_id = $2", 1, [published["id"]]),
    },
    "PublicationService.CreateMember": {
      ...post(`/v1/loyalties/${program.campaignId}/members`, { customer: { source_id: tag } }),
      ...rows("voucher.publication", "campaign_id = $2", 1, [program.campaignId]),
    },
    "ReferralService.CreateHolders": {
      ...post(`/v1/referrals/members/${referralCode}/holders`, {
        holders: [{ source_id: `${tag} referee` }],
        metadata: { tag },
      }),
      ...rows("voucher.redeemable_holder", "metadata ->> 'tag' = $2", 1, [tag]),
    },
  };
}

function campaignRows(
  { campaigns, category, promotion, tiers, stack, rule, referralTier, loyalty }: Fixtures,
  { tag, post, put, rows }: Tools,
): Record<string, Row> {
  const [updated, enabled, disabled, filled, filledWithCode] = campaigns.map(
    ({ id }) => id as string,
  );
  return {
    "CategoryService.CreateCategory": {
      ...post("/v1/categories", { name: tag, hierarchy: 1 }),
      ...rows("campaign.category", "name = $2", 1, [tag]),
    },
    "CategoryService.UpdateCategory": put(`/v1/categories/${category}`, {
      name: `${tag} 2`,
      hierarchy: 2,
    }),
    "CampaignService.CreateCampaign": {
      ...post("/v1/campaigns", {
        name: tag,
        vouchers_count: 3,
        voucher: voucherBody(),
        category: `${tag} campaign`,
        validation_rules: [rule],
      }),
      ...rows("voucher.voucher", "campaign_name = $2", 3, [tag]),
    },
    "CampaignService.UpdateCampaign": put(`/v1/campaigns/${updated}`, {
      metadata: { changed: true },
    }),
    "LoyaltyProgramService.CreateCampaign": {
      ...post("/v1/loyalties", {
        name: `${tag} program`,
        vouchers_count: 2,
        voucher: { loyalty_card: { points: 0 } },
      }),
      ...rows("voucher.voucher", "campaign_name = $2", 2, [`${tag} program`]),
    },
    "LoyaltyProgramService.UpdateCampaign": put(`/v1/loyalties/${loyalty.campaignId}`, {
      description: "changed",
    }),
    "CampaignService.EnableCampaign": post(`/v1/campaigns/${enabled}/enable`),
    "CampaignService.DisableCampaign": post(`/v1/campaigns/${disabled}/disable`),
    "CampaignService.CreateCampaignVouchers": {
      ...post(`/v1/campaigns/${filled}/vouchers?vouchers_count=4`),
      ...rows("voucher.voucher", "campaign_id = $2", 4, [filled ?? ""]),
    },
    "CampaignService.CreateCampaignVouchers counted": {
      ...post(`/v1/campaigns/${filledWithCode}/vouchers?vouchers_count=2`),
      ...rows("campaign.campaign", "id = $2 and vouchers_count = 2", 1, [filledWithCode ?? ""]),
    },
    ...referralTierRows(referralTier, { tag, post, put, rows }),
    "PromotionService.CreatePromotionTier": {
      ...post(`/v1/promotions/${promotion}/tiers`, {
        ...TIER,
        name: tag,
        validation_rules: [rule],
      }),
      ...rows("campaign.promotion_tier", "name = $2", 1, [tag]),
    },
    "PromotionService.UpdatePromotionTier": put(`/v1/promotions/tiers/${tiers[1]}`, {
      name: "changed",
    }),
    "PromotionService.EnablePromotionTier": post(`/v1/promotions/tiers/${tiers[1]}/enable`),
    "PromotionService.DisablePromotionTier": post(`/v1/promotions/tiers/${tiers[2]}/disable`),
    "PromotionService.CreatePromotionStack": {
      ...post(`/v1/promotions/${promotion}/stacks`, { name: tag, tiers: { ids: [tiers[0]] } }),
      ...rows("campaign.promotion_stack", "name = $2", 1, [tag]),
    },
    "PromotionService.UpdatePromotionStack": put(`/v1/promotions/${promotion}/stacks/${stack}`, {
      name: "changed",
    }),
  };
}

function loyaltyRows(
  { customer, deletedCustomer, rewards, program }: Fixtures,
  { tag, post, put, rows }: Tools,
): Record<string, Row> {
  const [updated, assigned] = rewards;
  const { rewardId, assignmentId, campaignId } = program;
  const qualify = `/v1/loyalties/${campaignId}/qualifications`;
  return {
    "QualificationService.EstimatePoints": post(qualify, { customer: { id: customer }, ...ORDER }),
    "CustomerService.CreateCustomer": {
      ...post("/v1/customers", { source_id: tag, name: tag }),
      ...rows("loyalty.customer", "name = $2", 1, [tag]),
    },
    "CustomerService.UpdateCustomer": put(`/v1/customers/${customer}`, {
      metadata: { changed: 1 },
    }),
    "CustomerService.DeleteCustomerPermanently": post(
      `/v1/customers/${deletedCustomer}/permanent-deletion`,
    ),
    "SegmentService.CreateSegment": {
      ...post("/v1/segments", { name: tag, type: "static", customers: [customer] }),
      ...rows("loyalty.segment", "name = $2", 1, [tag]),
    },
    "RewardService.CreateReward": {
      ...post("/v1/rewards", {
        name: tag,
        type: "COIN",
        parameters: { coin: { exchange_ratio: 1, points_ratio: 1 } },
      }),
      ...rows("loyalty.reward", "name = $2", 1, [tag]),
    },
    "RewardService.UpdateReward": put(`/v1/rewards/${updated}`, { name: "changed" }),
    "RewardService.CreateRewardAssignment": {
      ...post(`/v1/rewards/${assigned}/assignments`, { campaign: campaignId }),
      ...rows("loyalty.reward_assignment", "reward_id = $2", 1, [assigned ?? ""]),
    },
    "RewardService.UpdateRewardAssignment": put(
      `/v1/rewards/${rewardId}/assignments/${assignmentId}`,
      {},
    ),
    "RewardService.UpdateLoyaltyReward": put(
      `/v1/loyalties/${campaignId}/rewards/${assignmentId}`,
      {},
    ),
  };
}

function decisionRows(
  { codes, tiers, redemptions, gift }: Fixtures,
  { tag, post, rows }: Tools,
): Record<string, Row> {
  const redeemables = (id: string | undefined): Json => ({
    redeemables: [{ object: "voucher", id }],
  });
  const redeemed = (voucher: string | undefined) =>
    rows(
      "voucher.redemption",
      `status = 'SUCCEEDED' and voucher_id = (select id from voucher.voucher
         where project_id = $1 and code = $2)`,
      1,
      [voucher ?? ""],
    );
  const [tier] = tiers;
  return {
    "ValidationService.ValidateVoucher": post(`/v1/vouchers/${codes[3]}/validate`, ORDER),
    "ValidationService.Validate with a session": {
      ...post("/v1/validations", { ...ORDER, ...redeemables(gift), session: { type: "LOCK" } }),
      ...rows("voucher.reservation"),
    },
    "ValidationService.Validate": post("/v1/validations", { ...ORDER, ...redeemables(codes[3]) }),
    "ValidationService.ValidatePromotionTier": post(
      `/v1/promotions/tiers/${tier}/validation`,
      ORDER,
    ),
    "ValidationService.ValidatePromotions": post("/v1/promotions/validation", ORDER),
    "ValidationService.RedeemVoucher": {
      ...post(`/v1/vouchers/${codes[4]}/redemption`, ORDER),
      ...redeemed(codes[4]),
    },
    "ValidationService.RedeemCode": {
      ...post(`/client/v1/redeem?code=${codes[5]}`, { customer: { source_id: tag }, ...ORDER }),
      ...redeemed(codes[5]),
      by: "client",
    },
    "ValidationService.Redeem": {
      ...post("/v1/redemptions", { ...ORDER, ...redeemables(codes[6]) }),
      ...redeemed(codes[6]),
    },
    "ValidationService.RedeemPromotionTier": {
      ...post(`/v1/promotions/tiers/${tier}/redemption`, ORDER),
      ...rows("voucher.redemption", "promotion_tier_id = $2", 1, [tier ?? ""]),
    },
    "ValidationService.RollbackRedemption": {
      ...post(`/v1/redemptions/${redemptions[0]}/rollback`),
      ...rows("voucher.redemption_rollback", "redemption_id = $2", 1, [redemptions[0] ?? ""]),
    },
    "ValidationService.RollbackRedemptions": {
      ...post(`/v1/redemptions/${redemptions[1]}/rollbacks`),
      ...rows("voucher.redemption_rollback", "redemption_id = $2", 1, [redemptions[1] ?? ""]),
    },
    "QualificationService.Qualify": post("/v1/qualifications", { scenario: "ALL", ...ORDER }),
    "QualificationService.QualifyVouchers": post("/v1/vouchers/qualification", ORDER),
    "QualificationService.QualifyCampaigns": post("/v1/campaigns/qualification", ORDER),
  };
}

function catalogueRows(
  { order, product, sku, rule, codes, stackingPath, otherStacking }: Fixtures,
  { tag, post, put, rows }: Tools,
): Record<string, Row> {
  const by = { by: "management" as const };
  return {
    "OrderService.CreateOrder": {
      ...post("/v1/orders", {
        amount: 777,
        status: "PAID",
        customer: { source_id: `${tag} paid` },
      }),
      ...rows(
        "validation.shop_order",
        `customer_id = (select id from loyalty.customer where project_id = $1 and source_id = $2)`,
        1,
        [`${tag} paid`],
      ),
    },
    "OrderService.CreateOrder with a source id": {
      ...post("/v1/orders", { source_id: tag, amount: 777 }),
      ...rows("validation.shop_order", "source_id = $2", 1, [tag]),
    },
    "OrderService.UpdateOrder": put(`/v1/orders/${order}`, { amount: 200 }),
    "ProductService.CreateProduct": {
      ...post("/v1/products", { name: tag }),
      ...rows("validation.product", "name = $2", 1, [tag]),
    },
    "ProductService.UpdateProduct": put(`/v1/products/${product}`, { name: "changed" }),
    "ProductService.CreateSku": {
      ...post(`/v1/products/${product}/skus`, { sku: tag }),
      ...rows("validation.sku", "sku = $2", 1, [tag]),
    },
    "ProductService.UpdateSku": put(`/v1/products/${product}/skus/${sku}`, { sku: "changed" }),
    "ProductCollectionService.CreateProductCollection": {
      ...post("/v1/product-collections", {
        name: tag,
        type: "STATIC",
        products: [{ id: product, object: "product" }],
      }),
      ...rows("validation.product_collection", "name = $2", 1, [tag]),
    },
    "StackingRulesService.CreateStackingRules": {
      ...post(stackingPath, { redeemables_limit: 5 }),
      ...rows("validation.stacking_rules"),
      ...by,
    },
    "StackingRulesService.UpdateStackingRules": {
      ...put(otherStacking, { redeemables_limit: 7 }),
      ...by,
    },
    "ValidationRuleService.CreateValidationRule": {
      ...post("/v1/validation-rules", { name: tag, rules: orderAbove(5) }),
      ...rows("validation.validation_rule", "name = $2", 1, [tag]),
    },
    "ValidationRuleService.UpdateValidationRule": put(`/v1/validation-rules/${rule}`, {
      name: "changed",
    }),
    "ValidationRuleService.CreateAssignment": {
      ...post(`/v1/validation-rules/${rule}/assignments`, { voucher: codes[7] }),
      ...rows(
        "validation.validation_rule_assignment",
        "object_id = (select id from voucher.voucher where project_id = $1 and code = $2)",
        1,
        [codes[7] ?? ""],
      ),
    },
  };
}

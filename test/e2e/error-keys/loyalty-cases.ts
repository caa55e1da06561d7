import { type Json, newCode } from "../../stack/api.ts";
import type { ErrorCase } from "./error-case.ts";
import { ANN, program, referralCode } from "./fixtures.ts";
import type { Shop } from "./shop.ts";

const customers: readonly ErrorCase[] = [
  {
    rpc: "CustomerService.CreateCustomer",
    key: "forbidden",
    side: "client",
    request: { body: { source_id: "ann" } },
  },
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

/** A reward of a product. */
const mug = async (shop: Shop): Promise<Json> => ({
  type: "MATERIAL",
  parameters: { product: { id: (await shop.product())["id"] } },
});

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
  const { id } = await shop.create("/v1/rewards", await mug(shop));
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
      params: { reward_id: (await shop.create("/v1/rewards", await mug(shop)))["id"] },
      body: { campaign: await program(shop) },
    }),
  },
];

const EVENT = "CustomEventService.CreateCustomEvent";
const SCHEMAS = "CustomEventService.CreateCustomEventSchema";

const createEventSchema = (shop: Shop, body: Json) =>
  shop.management.post(`/management/v1/projects/${shop.projectId}/custom-event-schemas`, body);

/** Requests of a custom event for a customer with an id of their own. */
const eventOf = (parts: Json): { body: Json } => ({
  body: { event: "viewed", customer: { source_id: newCode("ann") }, ...parts },
});

const customEvents: readonly ErrorCase[] = [
  {
    rpc: EVENT,
    key: "metadata_validation_failed",
    project: "schemas",
    request: async (shop) => {
      const schema = { properties: { pages: { type: "number" } } };
      await createEventSchema(shop, { name: "viewed", schema });
      return eventOf({ metadata: { pages: "three" } });
    },
  },
  {
    rpc: EVENT,
    key: "invalid_customer",
    request: async (shop) => {
      const cards = `/v1/loyalties/${await program(shop)}/members`;
      const { code } = await shop.create(cards, { customer: { source_id: newCode("ben") } });
      return eventOf({ loyalty: { code } });
    },
  },
  {
    rpc: EVENT,
    key: "invalid_voucher",
    request: async (shop) => eventOf({ loyalty: { code: await shop.voucher() } }),
  },
  {
    rpc: EVENT,
    key: "referrer_not_permitted_to_redeem",
    request: async (shop) => {
      const customer = { source_id: newCode("referrer") };
      return eventOf({ customer, referral: { code: await referralCode(shop, customer) } });
    },
  },
  {
    rpc: SCHEMAS,
    key: "duplicate_found",
    project: "schemas",
    request: async (shop) => {
      await createEventSchema(shop, { name: "left" });
      return { params: { project_id: shop.projectId }, body: { name: "left" } };
    },
  },
];

const EARNING_RULE = { event: "order.paid", loyalty: { type: "FIXED", points: 1 } };
const WRONG_METADATA = { metadata: { wrong: "x" } };

const TIER = { name: "Silver", points: { from: 1 } };

const earningRules: readonly ErrorCase[] = [
  {
    rpc: "EarningRuleService.CreateEarningRules",
    key: "not_found",
    request: { params: { campaign_id: "none" }, body: [EARNING_RULE] },
  },
  {
    rpc: "EarningRuleService.CreateEarningRules",
    key: "metadata_validation_failed",
    project: "schemas",
    request: async (shop) => ({
      params: { campaign_id: await program(shop) },
      body: [{ ...EARNING_RULE, ...WRONG_METADATA }],
    }),
  },
  {
    rpc: "EarningRuleService.UpdateEarningRule",
    key: "metadata_validation_failed",
    project: "schemas",
    request: async (shop) => ({
      params: { campaign_id: await program(shop), earning_rule_id: "none" },
      body: WRONG_METADATA,
    }),
  },
  {
    rpc: "LoyaltyTierService.CreateLoyaltyTiers",
    key: "not_found",
    request: { params: { campaign_id: "none" }, body: [TIER] },
  },
  {
    rpc: "LoyaltyTierService.CreateLoyaltyTiers",
    key: "metadata_validation_failed",
    project: "schemas",
    request: async (shop) => ({
      params: { campaign_id: await program(shop) },
      body: [{ ...TIER, ...WRONG_METADATA }],
    }),
  },
  {
    rpc: "LoyaltyTierService.UpdateLoyaltyTier",
    key: "metadata_validation_failed",
    project: "schemas",
    request: async (shop) => ({
      params: { campaign_id: await program(shop), tier_id: "none" },
      body: WRONG_METADATA,
    }),
  },
  {
    rpc: "LoyaltyTierService.DeleteLoyaltyTier",
    key: "resource_in_use",
    request: async (shop) => {
      const id = await program(shop);
      const tiers = await shop.create(`/v1/loyalties/${id}/tiers`, [TIER]);
      const [tier] = tiers as unknown as readonly Json[];
      await shop.create(`/v1/loyalties/${id}/earning-rules`, [
        {
          event: "customer.loyalty.tier.joined",
          loyalty_tier: { id: tier!["id"] },
          loyalty: { type: "FIXED", points: 1 },
        },
      ]);
      return { params: { campaign_id: id, tier_id: tier!["id"] } };
    },
  },
  {
    rpc: "CustomEventService.DeleteCustomEventSchema",
    key: "resource_in_use",
    project: "schemas",
    request: async (shop) => {
      const { body } = await createEventSchema(shop, { name: "earned" });
      const event = { ...EARNING_RULE, event: "earned" };
      await shop.create(`/v1/loyalties/${await program(shop)}/earning-rules`, [event]);
      return { params: { project_id: shop.projectId, schema_id: body["id"] } };
    },
  },
];

const MAX_POINTS = 10_000_000_000_000;

/** Codes of a card with 1,000 points and of one without holder, and their program. */
async function newCards(shop: Shop) {
  const campaign = await program(shop);
  const member = { customer: { source_id: newCode("ann") } };
  const { code } = await shop.create(`/v1/loyalties/${campaign}/members`, member);
  const { code: free } = await shop.create(`/v1/campaigns/${campaign}/vouchers`);
  return { campaign, code, free };
}

const adjustments: readonly ErrorCase[] = [
  { key: "invalid_amount", body: { points: 0 } },
  { key: "loyalty_card_points_exceeded", body: { points: -1_001 } },
  {
    key: "invalid_expiration_date",
    body: { points: 1, expiration_type: "CUSTOM_DATE", expiration_date: "2020-01-01" },
  },
].map(({ key, body }) => ({
  rpc: "MemberService.AdjustMemberBalance",
  key,
  request: async (shop) => ({ params: { member_id: (await newCards(shop)).code }, body }),
}));

const members: readonly ErrorCase[] = [
  ...adjustments,
  {
    rpc: "MemberService.AdjustMemberBalance",
    key: "not_published",
    request: async (shop) => ({
      params: { member_id: (await newCards(shop)).free },
      body: { points: 1 },
    }),
  },
  ...["MemberService.AdjustMemberBalance", "MemberService.GetMember"].map((rpc): ErrorCase => ({
    rpc,
    key: "invalid_voucher",
    request: async (shop) => ({
      params: { member_id: await shop.voucher() },
      body: { points: 1 },
    }),
  })),
  {
    rpc: "TransactionService.AdjustBalance",
    key: "not_published",
    request: async (shop) => ({
      params: { code: (await newCards(shop)).free },
      body: { amount: 1 },
    }),
  },
  {
    rpc: "TransactionService.AdjustBalance",
    key: "loyalty_card_points_exceeded",
    request: async (shop) => ({
      params: { code: (await newCards(shop)).code },
      body: { amount: -1_001 },
    }),
  },
  ...[
    { key: "loyalty_card_points_exceeded", points: 1_001 },
    { key: "invalid_amount", points: 1_000 },
    { key: "invalid_voucher", points: 1 },
    { key: "not_published", points: 1 },
  ].map(({ key, points }): ErrorCase => ({
    rpc: "MemberService.TransferMemberPoints",
    key,
    request: async (shop) => {
      const from = await newCards(shop);
      const to = await newCards(shop);
      // The destination cannot get more.
      const balance = `/v1/loyalties/members/${to.code}/balance`;
      if (key === "invalid_amount") await shop.create(balance, { points: MAX_POINTS - 1_000 });
      const voucher = key === "invalid_voucher" ? await shop.voucher() : undefined;
      const code = voucher ?? (key === "not_published" ? from.free : from.code);
      return {
        params: { campaign_id: to.campaign, member_id: to.code },
        body: [{ code, points }],
      };
    },
  })),
];

/** An entry of pending points of a new card. */
async function pendingEntry(shop: Shop, status: string): Promise<Record<string, string>> {
  const cards = `/v1/loyalties/${await program(shop)}/members`;
  const { id, code } = await shop.create(cards, { customer: { source_id: newCode("ben") } });
  const entry = newCode("lopp");
  await shop.sql(
    `insert into loyalty.loyalty_card (project_id, id, points, balance, pending_points, opened_at)
     values ($1, $2, 0, 0, $3, now())`,
    [shop.projectId, id, status === "PENDING" ? 5 : 0],
  );
  await shop.sql(
    `insert into loyalty.pending_points (project_id, id, card_id, campaign_id, customer_id, points, status,
                                         activates_on, cause, rule_id, details, created_at)
     values ($1, $2, $3, 'camp', 'cust', 5, $4, current_date, 'test', 'ern', '{}', now())`,
    [shop.projectId, entry, id, status],
  );
  return { member_id: code, pending_points_id: entry };
}

const pendingPoints: readonly ErrorCase[] = [
  ...["Adjust", "Activate", "Cancel"].map((verb): ErrorCase => ({
    rpc: `PendingPointsService.${verb}PendingPoints`,
    key: "invalid_pending_points_state",
    request: async (shop) => ({
      params: await pendingEntry(shop, "CANCELED"),
      body: verb === "Adjust" ? { points: 1 } : {},
    }),
  })),
  {
    rpc: "PendingPointsService.AdjustPendingPoints",
    key: "invalid_amount",
    request: async (shop) => ({
      params: await pendingEntry(shop, "PENDING"),
      body: { points: -5 },
    }),
  },
];

/** An estimation for a program and a customer. */
const estimationOf = (campaign: string, customer: Json, order: Json = { amount: 1_000 }) => ({
  params: { campaign_id: campaign },
  body: { customer, order },
});

const estimations: readonly ErrorCase[] = [
  {
    key: "campaign_not_active",
    request: async (shop: Shop) => {
      const campaign = await program(shop);
      await shop.create(`/v1/campaigns/${campaign}/disable`);
      return estimationOf(campaign, ANN);
    },
  },
  {
    key: "loyalty_card_not_active",
    request: async (shop: Shop) => {
      const campaign = await program(shop);
      const customer = { source_id: newCode("ann") };
      const { code } = await shop.create(`/v1/loyalties/${campaign}/members`, { customer });
      await shop.create(`/v1/vouchers/${code}/disable`);
      return estimationOf(campaign, customer);
    },
  },
  {
    key: "campaign_not_allow_auto_join",
    request: async (shop: Shop) => estimationOf(await program(shop), { source_id: newCode("ann") }),
  },
  {
    key: "invalid_order",
    request: async (shop: Shop) => estimationOf(await program(shop), ANN, { amount: -1 }),
  },
  {
    key: "metadata_validation_failed",
    project: "schemas" as const,
    request: async (shop: Shop) =>
      estimationOf(await program(shop), ANN, { amount: 1, ...WRONG_METADATA }),
  },
].map((each) => ({ rpc: "QualificationService.EstimatePoints", ...each }));

export const LOYALTY_CASES: readonly ErrorCase[] = [
  ...estimations,
  ...customers,
  ...customEvents,
  ...earningRules,
  ...pendingPoints,
  ...rewards,
  ...members,
];

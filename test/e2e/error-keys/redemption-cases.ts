import { type Json, newCode } from "../../stack/api.ts";
import { createLoyaltyProgram } from "../../stack/loyalty-program.ts";
import type { CaseRequest, ErrorCase } from "./error-case.ts";
import { ANN, order, claimOrder } from "./fixtures.ts";
import { FUTURE, type Shop } from "./shop.ts";

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

const orders: readonly ErrorCase[] = [
  ...[
    "QualificationService.Qualify",
    "QualificationService.QualifyVouchers",
    "QualificationService.QualifyCampaigns",
    "ValidationService.ValidatePromotions",
  ].map((rpc) => ({
    rpc,
    key: "invalid_order" as const,
    request: { body: { order: { amount: -1 } } },
  })),
  ...["QualificationService.Qualify", "ValidationService.ValidatePromotions"].map((rpc) => ({
    rpc,
    key: "ambiguous_tracking_id" as const,
    request: { body: { customer: ANN, tracking_id: "bob" } },
  })),
];

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

/** A redemption of a MATERIAL reward. */
const rewardRedemption = async (shop: Shop): Promise<Json> => {
  const { id: product } = await shop.product();
  const program = await createLoyaltyProgram(shop.api);
  const { id } = await shop.create("/v1/rewards", {
    type: "MATERIAL",
    parameters: { product: { id: product } },
  });
  await shop.create(`/v1/rewards/${id}/assignments`, {
    campaign: program.campaignId,
    parameters: { loyalty: { points: 10 } },
  });
  const { code, customer } = await program.createCard();
  return shop.create(`/v1/vouchers/${code}/redemption`, { customer, reward: { id } });
};

const completions: readonly ErrorCase[] = [
  {
    rpc: "RedemptionService.CompleteReward",
    key: "invalid_redemption",
    request: async (shop) => ofRedemption((await redemption(shop))["id"]),
  },
  {
    rpc: "RedemptionService.CompleteReward",
    key: "already_rolled_back",
    request: async (shop) => {
      const { id } = await rewardRedemption(shop);
      await shop.create(`/v1/redemptions/${id}/rollback`);
      return ofRedemption(id);
    },
  },
];

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

export const REDEMPTION_CASES: readonly ErrorCase[] = [
  ...redeemableLists,
  ...orders,
  ...redemptions,
  ...qualifications,
  ...completions,
  ...rollbacks,
];

import type { Json } from "../../stack/api.ts";
import { createLoyaltyProgram } from "../../stack/loyalty-program.ts";
import { claimedOrder } from "./decision-cases.ts";
import type { ErrorCase } from "./error-case.ts";
import { FUTURE, PAST, type Shop } from "./shop.ts";

const RPC = "ValidationService.RedeemMemberReward";

type Options = {
  /** Fields of the card that are changed before the redemption. */
  readonly card?: Json;
  readonly rule?: Parameters<Shop["rule"]>;
  readonly quantity?: number;
  readonly body?: Json | ((shop: Shop) => Promise<Json>);
};

/** The redemption of a COIN reward with a card that rejects it for one reason. */
const rejected = (key: string, { card: fields, rule, quantity, body }: Options): ErrorCase => ({
  rpc: RPC,
  key,
  request: async (shop) => {
    const program = await createLoyaltyProgram(shop.api, {
      ...(quantity !== undefined && { quantity }),
      ...(rule !== undefined && { rules: [await shop.rule(...rule)] }),
    });
    const { code } = await program.createCard();
    if (fields !== undefined) await shop.api.put(`/v1/vouchers/${code}`, fields);
    const reward = { id: program.rewardId };
    const sent = typeof body === "function" ? await body(shop) : body;
    return { params: { member_id: code }, body: { order: { amount: 1_000 }, reward, ...sent } };
  },
});

export const MEMBER_CASES: readonly ErrorCase[] = [
  rejected("voucher_disabled", { card: { active: false } }),
  rejected("voucher_not_active", { card: { start_date: FUTURE } }),
  rejected("voucher_expired", { card: { expiration_date: PAST } }),
  rejected("voucher_not_active_now", {
    card: { start_date: PAST, validity_timeframe: { interval: "P900Y", duration: "PT1H" } },
  }),
  rejected("quantity_exceeded", { quantity: 0 }),
  rejected("missing_reward", { body: { reward: undefined } }),
  rejected("missing_amount", { body: { order: { metadata: { a: 1 } } } }),
  rejected("invalid_order", { body: { order: { amount: -1 } } }),
  rejected("multiple_requests", { body: claimedOrder }),
  rejected("customer_rules_violated", { rule: ["customer.metadata", { $is: [true] }, "vip"] }),
  rejected("order_rules_violated", { rule: ["order.amount", { $less_than_or_equal: [1] }] }),
  rejected("redemption_rules_violated", {
    rule: ["redemption.count.daily", { $less_than_or_equal: [0] }],
  }),
  {
    rpc: RPC,
    key: "invalid_customer",
    request: async (shop) => {
      const { campaignId, rewardId } = await createLoyaltyProgram(shop.api);
      const { code } = await shop.create(`/v1/campaigns/${campaignId}/vouchers`);
      return {
        params: { member_id: code },
        body: { order: { amount: 1_000 }, reward: { id: rewardId } },
      };
    },
  },
  {
    rpc: "RewardService.CreateLoyaltyRewards",
    key: "not_found",
    request: { params: { campaign_id: "none" }, body: [{ reward: "rew_none" }] },
  },
  {
    rpc: "RewardService.CreateLoyaltyRewards",
    key: "duplicate_found",
    request: async (shop) => {
      const { campaignId, rewardId } = await createLoyaltyProgram(shop.api);
      return { params: { campaign_id: campaignId }, body: [{ reward: rewardId }] };
    },
  },
  {
    rpc: "RewardService.CreateLoyaltyRewards",
    key: "missing_param",
    request: async (shop) => {
      const { campaignId } = await createLoyaltyProgram(shop.api);
      const parameters = { product: { id: (await shop.product())["id"] } };
      const { id } = await shop.create("/v1/rewards", { type: "MATERIAL", parameters });
      return { params: { campaign_id: campaignId }, body: [{ reward: id }] };
    },
  },
];

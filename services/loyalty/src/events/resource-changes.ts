import {
  changed,
  createdOrUpdated,
  deleted,
  type PublishedChange,
  publishes,
} from "@scrip/idempotency";
import { CustomerProfileSchema, CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import {
  EarningRuleSchema,
  EarningRuleService,
} from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { RewardAssignmentSchema, RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { LoyaltyTierSchema, LoyaltyTierService } from "@scrip/proto/scrip/loyalty/v1/tiers_pb";

import { CUSTOMERS_TOPIC, PROGRAMS_TOPIC } from "./topics.ts";

const customers = CustomerService.method;
const earningRules = EarningRuleService.method;
const rewards = RewardService.method;

const tiers = LoyaltyTierService.method;

const EARNING_RULE = "campaign.earning_rule";
const ASSIGNMENT = "campaign.reward.assignment";
const TIER = "campaign.loyalty_tier";
const RULE_ASSIGNMENT = "business_validation_rule.assignment";

/** What requests publish for webhooks. */
export const RESOURCE_CHANGES: readonly PublishedChange[] = [
  publishes(
    customers.createCustomer,
    CUSTOMERS_TOPIC,
    ["customer.created", "customer.updated"],
    // The response for a client-side caller is an identity; the handler publishes the customer that it creates.
    (customer, _, { caller }) =>
      caller.side === "client"
        ? []
        : [createdOrUpdated(CustomerProfileSchema, customer, "customer")],
  ),
  publishes(customers.updateCustomer, CUSTOMERS_TOPIC, ["customer.updated"]),
  publishes(
    earningRules.createEarningRules,
    PROGRAMS_TOPIC,
    [`${EARNING_RULE}.assigned`],
    ({ rules }) => rules.map((rule) => changed(EarningRuleSchema, rule)),
  ),
  publishes(earningRules.updateEarningRule, PROGRAMS_TOPIC, [`${EARNING_RULE}.updated`]),
  publishes(earningRules.enableEarningRule, PROGRAMS_TOPIC, [`${EARNING_RULE}.enabled`]),
  publishes(earningRules.disableEarningRule, PROGRAMS_TOPIC, [`${EARNING_RULE}.disabled`]),
  publishes(
    earningRules.deleteEarningRule,
    PROGRAMS_TOPIC,
    [`${EARNING_RULE}.deleted`],
    (_, { earningRuleId }) => [deleted("earning_rule", earningRuleId)],
  ),
  publishes(earningRules.assignValidationRule, PROGRAMS_TOPIC, [`${RULE_ASSIGNMENT}.created`]),
  publishes(
    earningRules.unassignValidationRule,
    PROGRAMS_TOPIC,
    [`${RULE_ASSIGNMENT}.deleted`],
    (_, { assignmentId }) => [deleted("validation_rules_assignment", assignmentId)],
  ),
  publishes(rewards.createRewardAssignment, PROGRAMS_TOPIC, [`${ASSIGNMENT}.created`]),
  publishes(rewards.createLoyaltyRewards, PROGRAMS_TOPIC, [`${ASSIGNMENT}.created`], (response) =>
    response.rewards.map((assignment) => changed(RewardAssignmentSchema, assignment)),
  ),
  publishes(rewards.updateRewardAssignment, PROGRAMS_TOPIC, [`${ASSIGNMENT}.updated`]),
  publishes(rewards.updateLoyaltyReward, PROGRAMS_TOPIC, [`${ASSIGNMENT}.updated`]),
  ...[rewards.deleteRewardAssignment, rewards.deleteLoyaltyReward].map((method) =>
    publishes(method, PROGRAMS_TOPIC, [`${ASSIGNMENT}.deleted`], (_, { assignmentId }) => [
      deleted("reward_assignment", assignmentId),
    ]),
  ),
  publishes(tiers.createLoyaltyTiers, PROGRAMS_TOPIC, [`${TIER}.created`], (response) =>
    response.tiers.map((tier) => changed(LoyaltyTierSchema, tier)),
  ),
  publishes(tiers.updateLoyaltyTier, PROGRAMS_TOPIC, [`${TIER}.updated`]),
  publishes(tiers.deleteLoyaltyTier, PROGRAMS_TOPIC, [`${TIER}.deleted`], (_, { tierId }) => [
    deleted("loyalty_tier", tierId),
  ]),
];

import { type KnownValue, booleanValue, countValue } from "../../formula/value.ts";
import type { RuleName } from "../model/rule-names.ts";
import { idsOperand } from "./operands.ts";

const conditions = (operator: string, ...operands: readonly unknown[]): object => ({
  [operator]: operands,
});

/** Names of rules on one value: conditions, a value that meets them, one that does not. */
export const values: readonly (readonly [RuleName, object, KnownValue, KnownValue])[] = [
  [
    "customer.segment",
    conditions("$is", "seg_1", "seg_2"),
    idsOperand(["seg_9", "seg_2"]),
    idsOperand([]),
  ],
  [
    "customer.segment",
    conditions("$is_not", "seg_1"),
    idsOperand(["seg_2"]),
    idsOperand(["seg_1"]),
  ],
  [
    "customer.loyalty.tier",
    conditions("$in", "ltr_1"),
    idsOperand(["ltr_1"]),
    idsOperand(["ltr_2"]),
  ],
  ["redemption.api_key", conditions("$is", "app_1"), idsOperand(["app_1"]), idsOperand(["app_2"])],
  ["redemption.user.login", conditions("$is", "ann"), idsOperand(["ann"]), idsOperand(["bob"])],
  [
    "publication.redeemable_by_linked_customer",
    conditions("$is", true),
    booleanValue(true),
    booleanValue(false),
  ],
  ...(
    [
      "order.amount",
      "order.initial_amount",
      "order.total_amount",
      "order.items.count",
      "campaign.redemptions.count",
      "campaign.redemptions.count.daily",
      "campaign.redemptions.count.weekly",
      "campaign.redemptions.count.monthly",
      "campaign.redemptions.customers_count",
      "campaign.redemptions.customers_count.daily",
      "campaign.redemptions.customers_count.weekly",
      "campaign.redemptions.customers_count.monthly",
      "campaign.orders.amount",
      "campaign.orders.amount_discounted",
      "redemption.count.daily",
      "redemption.count.weekly",
      "redemption.count.monthly",
      "redemption.count.per_customer",
      "redemption.count.per_customer.daily",
      "redemption.count.per_customer.weekly",
      "redemption.count.per_customer.monthly",
      "redemption.count.per_api_key",
      "redemption.count.per_user",
      "redemption.gift.amount",
      "redemption.reward.pay_with_points.points_used",
    ] as const
  ).flatMap((name): (readonly [RuleName, object, KnownValue, KnownValue])[] => [
    [name, conditions("$less_than_or_equal", 3), countValue(3n), countValue(4n)],
    [name, conditions("$less_than", 3), countValue(2n), countValue(3n)],
    [name, conditions("$more_than", 3), countValue(4n), countValue(3n)],
    [name, conditions("$more_than_or_equal", 3), countValue(3n), countValue(2n)],
    [name, conditions("$is", 3), countValue(3n), countValue(2n)],
    [name, conditions("$is_not", 3), countValue(2n), countValue(3n)],
    [name, conditions("$in", 3, 4), countValue(4n), countValue(5n)],
    [name, conditions("$not_in", 3, 4), countValue(5n), countValue(4n)],
  ]),
];

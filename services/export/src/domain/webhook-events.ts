/** Names of the events that a webhook can subscribe to (docs/webhooks.md#events). */
const WEBHOOK_EVENTS: ReadonlySet<string> = new Set([
  ...names("business_validation_rule", "created", "updated", "deleted"),
  ...names("business_validation_rule.assignment", "created", "deleted"),
  ...names("campaign", "created", "updated", "deleted", "enabled", "disabled", "vouchers.added"),
  ...names("campaign.vouchers.generation", "started", "completed", "failed"),
  ...names("campaign.earning_rule", "assigned", "updated", "deleted", "enabled", "disabled"),
  ...names("campaign.loyalty_tier", "created", "updated", "deleted"),
  ...names("campaign.promotion_tier", "created", "updated", "deleted", "enabled", "disabled"),
  ...names("campaign.promotion_stack", "created", "updated", "deleted"),
  ...names("campaign.referral_tier", "created", "updated", "deleted"),
  ...names("campaign.reward.assignment", "created", "updated", "deleted"),
  ...names("customer", "created", "updated", "deleted", "confirmed", "referred"),
  ...names("customer", "rewarded", "rewarded.loyalty_points"),
  ...names("customer.order", "created", "updated", "paid", "canceled", "fulfilled"),
  ...names("customer.loyalty.tier", "joined", "left", "upgraded", "downgraded", "prolonged"),
  ...names("customer.segment", "entered", "left"),
  ...names("export", "completed"),
  ...names("publication", "succeeded"),
  ...names("redemption", "succeeded", "failed", "rollback.succeeded", "rollback.failed"),
  ...names("voucher", "created", "updated", "deleted", "enabled", "disabled", "published"),
  ...names("voucher.gift", "balance_added", "transaction.created"),
  ...names("voucher.loyalty_card", "points_added", "points_expired", "transaction.created"),
  ...names("voucher.loyalty_card.pending_points", "added", "updated", "activated", "canceled"),
]);

function names(subject: string, ...verbs: readonly string[]): readonly string[] {
  return verbs.map((verb) => `${subject}.${verb}`);
}

/** Clients of other systems send some names as `…aded`. Undefined: there is no such event. */
export function webhookEventName(name: string): string | undefined {
  const correct = name.replace(/aded$/, "added");
  return WEBHOOK_EVENTS.has(correct) ? correct : undefined;
}

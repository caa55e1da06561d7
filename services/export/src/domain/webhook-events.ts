/** `customer.loyalty.tier.…`, as the event calls the change. */
const TIER_CHANGES = ["joined", "left", "upgraded", "downgraded", "prolonged"];

/** Names of the events that webhooks receive (docs/webhooks.md#events). */
export const WEBHOOK_EVENTS: ReadonlySet<string> = new Set([
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
  ...names("customer", "created", "updated", "deleted", "referred"),
  ...names("customer", "rewarded", "rewarded.loyalty_points"),
  ...names("customer.order", "created", "updated", "paid", "canceled", "fulfilled"),
  ...names("customer.segment", "entered", "left"),
  ...names("customer.loyalty.tier", ...TIER_CHANGES),
  ...names("export", "completed"),
  ...names("product", "created", "updated", "deleted"),
  ...names("publication", "succeeded"),
  ...names("redemption", "succeeded", "failed", "rollback.succeeded", "rollback.failed"),
  ...names("sku", "created", "updated", "deleted"),
  ...names("voucher", "created", "updated", "deleted", "enabled", "disabled", "published"),
  ...names("voucher.gift", "balance_added", "transaction.created"),
  ...names("voucher.loyalty_card", "points_added", "points_expired", "transaction.created"),
  ...names("voucher.loyalty_card.pending_points", "added", "updated", "activated", "canceled"),
]);

/** Names that can be subscribed to but are never sent, because Scrip does not ask customers to confirm their data. */
const UNSENT_EVENTS: ReadonlySet<string> = new Set(names("customer", "confirmed"));

function names(subject: string, ...verbs: readonly string[]): readonly string[] {
  return verbs.map((verb) => `${subject}.${verb}`);
}

/** The name that a webhook can subscribe to. Clients of other systems misspell some as `…aded`. */
export const parseEventName = (sent: string): string | undefined =>
  [sent, sent.replace(/aded$/, "added")].find(
    (name) => WEBHOOK_EVENTS.has(name) || UNSENT_EVENTS.has(name),
  );

/** `customer.loyalty.tier.…`, as the event calls the change. */
const TIER_CHANGES = ["joined", "left", "upgraded", "downgraded", "prolonged"];

/** Names of the events that a webhook can subscribe to (docs/webhooks.md#events): each is sent. */
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

/** Names of compatible systems that Scrip does not send. */
const UNSENT_EVENTS: ReadonlySet<string> = new Set([
  ...names("customer", "confirmed"),
  ...names("customer.segment", "entered", "left"),
]);

function names(subject: string, ...verbs: readonly string[]): readonly string[] {
  return verbs.map((verb) => `${subject}.${verb}`);
}

export type EventName =
  | { readonly kind: "sent"; readonly name: string }
  /** Other systems send it, Scrip does not. */
  | { readonly kind: "unsent" | "unknown" };

/** Clients of other systems send some names as `…aded`. */
export function parseEventName(sent: string): EventName {
  const name = sent.replace(/aded$/, "added");
  if (WEBHOOK_EVENTS.has(name)) return { kind: "sent", name };
  return { kind: UNSENT_EVENTS.has(name) ? "unsent" : "unknown" };
}

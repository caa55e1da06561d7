import { Code } from "@connectrpc/connect";
import { catalogue, ERROR_REFERENCE, type ErrorKey, grpcCodeOf } from "@scrip/errors";

/** The documentation section that explains the key's subject. */
const SEE: { readonly [Key in ErrorKey]?: string } = {
  invalid_query_params: "[Filters and listing](filters-and-listing.md)",
  invalid_scope: "[Scopes](authentication.md#scopes)",
  page_over_limit: "[Pages](filters-and-listing.md#pages)",
  invalid_idempotency_key: "[Idempotency keys](idempotency.md#keys)",
  invalid_redeemables: "[Stacking](stacking.md)",
  no_applicable_redeemables: "[Stacking](stacking.md#algorithm)",
  voucher_expired: "[Start and expiration](time-limits.md#start-and-expiration)",
  voucher_not_active: "[Start and expiration](time-limits.md#start-and-expiration)",
  voucher_not_active_now: "[Time limits](time-limits.md)",
  promotion_not_active_now: "[Time limits](time-limits.md)",
  quantity_exceeded:
    "[Locks](sessions.md#locks), [Concurrency](redemption-and-rollback.md#concurrency)",
  gift_amount_exceeded: "[Gift credits](gift-and-points.md#gift-credits)",
  loyalty_card_points_exceeded: "[Loyalty cards](gift-and-points.md#loyalty-cards)",
  missing_reward: "[Rewards](gift-and-points.md#rewards)",
  reward_out_of_stock: "[Rewards](gift-and-points.md#rewards)",
  invalid_balance: "[Rewards](gift-and-points.md#rewards)",
  missing_order_items_amount: "[Gift credits](gift-and-points.md#gift-credits)",
  missing_customer: "[Rejections](validation-rules.md#rejections)",
  missing_amount: "[Rejections](validation-rules.md#rejections)",
  customer_rules_violated: "[Rejections](validation-rules.md#rejections)",
  order_rules_violated: "[Rejections](validation-rules.md#rejections)",
  redemption_rules_violated: "[Rejections](validation-rules.md#rejections)",
  invalid_order: "[Input order](order-calculation.md#input-order)",
  invalid_code_config: "[Codes](campaigns.md#codes)",
  invalid_campaign: "[Kinds](campaigns.md#kinds)",
  multiple_requests: "[Concurrency](redemption-and-rollback.md#concurrency)",
  invalid_rollback_params: "[Rollback](redemption-and-rollback.md#rollback)",
  invalid_redemption_parent: "[Rollback](redemption-and-rollback.md#rollback)",
  invalid_redemption: "[Rollback](redemption-and-rollback.md#rollback)",
  already_rolled_back: "[Rollback](redemption-and-rollback.md#rollback)",
  invalid_validation_rules: "[Rule object](validation-rules.md#rule-object)",
  voucher_already_published: "[Holders](publications.md#holders)",
  voucher_cannot_be_published: "[Join once](publications.md#join-once)",
  no_voucher_suitable_for_publication: "[Publish](publications.md#publish)",
  duplicate_source_id: "[Publish](publications.md#publish)",
  too_many_vouchers_requested: "[Publish](publications.md#publish)",
  metadata_validation_failed: "[Enforcement](metadata-schemas.md#enforcement)",
  unauthorized: "[Credentials](authentication.md#credentials)",
  missing_required_permission: "[Scopes](authentication.md#scopes)",
  forbidden: "[Client-side callers](authentication.md#client-side-callers)",
  range_not_satisfiable: "[Download](exports.md#download)",
  idempotency_in_progress: "[Conflicts](idempotency.md#conflicts)",
  idempotency_key_reused: "[Conflicts](idempotency.md#conflicts)",
  too_many_requests: "[Rate limits](rate-limits.md)",
};

const HEADING = "\n## Keys\n";

/** The page of error keys, generated from the error catalogue and the API reference. */
export function withErrorKeys(page: string): string {
  const head = page.slice(0, page.indexOf(HEADING) + HEADING.length);
  const keys = Object.keys(catalogue) as ErrorKey[];
  return `${head}\n${keys.map(sectionOf).join("\n")}`;
}

function sectionOf(key: ErrorKey): string {
  const { http, message } = catalogue[key];
  const { cause, remedy } = ERROR_REFERENCE[key];
  const grpc = Code[grpcCodeOf(key)].replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase();
  const lines = [
    `### ${key}`,
    "",
    `HTTP ${http}, gRPC \`${grpc}\`, message "${message}"`,
    "",
    `- Cause: ${cause}`,
    `- Remedy: ${remedy}`,
  ];
  const see = SEE[key];
  if (see !== undefined) lines.push(`- See: ${see}`);
  return `${lines.join("\n")}\n`;
}

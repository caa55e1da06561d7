import { Code } from "@connectrpc/connect";

type Entry = { readonly http: number; readonly message: string; readonly code?: Code };

/**
 * Every error that a caller may branch on (docs/errors.md#keys). The key is public: it is never renamed
 * and never reused. `http` is the status that the gateway returns, `message` the text next to the key,
 * `code` the gRPC status where it differs from the default.
 */
export const catalogue = {
  invalid_payload: { http: 400, message: "Invalid payload" },
  invalid_query_params: { http: 400, message: "Invalid query params" },
  missing_parameters: { http: 400, message: "Missing parameters" },
  invalid_scope: { http: 400, message: "Invalid scope" },
  invalid_grant_type: { http: 400, message: "Invalid grant_type" },
  page_over_limit: { http: 400, message: "Listing resource above 1000 page is not supported" },
  invalid_idempotency_key: { http: 400, message: "Invalid Idempotency-Key" },
  duplicated_redeemables: { http: 400, message: "Duplicated redeemables detected" },
  invalid_redeemables: { http: 400, message: "Invalid redeemables" },
  no_applicable_redeemables: { http: 400, message: "No applicable redeemables" },
  voucher_disabled: { http: 400, message: "voucher is disabled" },
  voucher_expired: { http: 400, message: "voucher expired" },
  voucher_not_active: { http: 400, message: "voucher not active yet" },
  voucher_not_active_now: { http: 400, message: "voucher not active now" },
  promotion_inactive: { http: 400, message: "Inactive Promotion" },
  promotion_not_active_now: { http: 400, message: "Promotion is not active now" },
  quantity_exceeded: { http: 400, message: "quantity exceeded" },
  gift_amount_exceeded: { http: 400, message: "gift amount exceeded" },
  loyalty_card_points_exceeded: { http: 400, message: "loyalty card points exceeded" },
  missing_reward: { http: 400, message: "Missing reward" },
  reward_out_of_stock: { http: 400, message: "Reward is out of stock" },
  missing_param: { http: 400, message: "Missing required parameter" },
  invalid_balance: { http: 400, message: "Invalid balance" },
  missing_amount: { http: 400, message: "Missing order amount" },
  missing_order: { http: 400, message: "Missing order" },
  missing_order_items_amount: { http: 400, message: "Missing applicable order items" },
  missing_customer: { http: 400, message: "Missing customer" },
  customer_rules_violated: {
    http: 400,
    message: "customer does not match validation rules",
  },
  order_rules_violated: { http: 400, message: "order does not match validation rules" },
  redemption_rules_violated: {
    http: 400,
    message: "redemption does not match validation rules",
  },
  referrer_not_permitted_to_redeem: {
    http: 400,
    message: "voucher cannot be redeemed by referrer",
  },
  ambiguous_tracking_id: { http: 400, message: "Ambiguous trackingId" },
  invalid_order: { http: 400, message: "Invalid order" },
  invalid_expiration_date: { http: 400, message: "Invalid expiration date" },
  invalid_pending_points_state: { http: 400, message: "Invalid pending points state" },
  campaign_not_active: { http: 400, message: "Loyalty campaign is not active" },
  loyalty_card_not_active: { http: 400, message: "Customer's loyalty card is not active" },
  campaign_not_allow_auto_join: {
    http: 400,
    message: "Customers do not join the loyalty campaign automatically",
  },
  invalid_amount: { http: 400, message: "Invalid amount" },
  invalid_add_balance_params: { http: 400, message: "Invalid add balance params" },
  invalid_gift: { http: 400, message: "Invalid gift" },
  duplicate_key: { http: 400, message: "Duplicate codes" },
  invalid_voucher: { http: 400, message: "Invalid voucher" },
  resource_protected: { http: 400, message: "Resource protected" },
  invalid_code_config: { http: 400, message: "Invalid code config" },
  invalid_customer: { http: 400, message: "Invalid customer" },
  // gRPC clients repeat calls that were ABORTED.
  multiple_requests: { http: 400, message: "Multiple requests detected", code: Code.Aborted },
  resource_in_use: { http: 400, message: "Resource in use" },
  invalid_campaign: { http: 400, message: "Invalid campaign" },
  invalid_campaign_params: { http: 400, message: "Invalid campaign params" },
  invalid_export_fields: { http: 400, message: "Invalid Export" },
  invalid_sku: { http: 400, message: "Invalid SKU" },
  invalid_rollback_params: { http: 400, message: "Invalid rollback params" },
  invalid_redemption_parent: { http: 400, message: "Invalid redemption parent" },
  invalid_redemption: { http: 400, message: "Invalid redemption" },
  already_rolled_back: { http: 400, message: "Already rolled back" },
  invalid_validation_rules: { http: 400, message: "Invalid Validation Rule Definition" },
  missing_vouchers: { http: 400, message: "Missing vouchers" },
  voucher_already_published: { http: 400, message: "Voucher already published" },
  voucher_cannot_be_published: { http: 400, message: "Voucher cannot be published" },
  no_voucher_suitable_for_publication: {
    http: 400,
    message: "No voucher suitable for publication",
  },
  duplicate_source_id: { http: 400, message: "Duplicate source id" },
  too_many_vouchers_requested: { http: 400, message: "Too many vouchers requested" },
  not_published: { http: 400, message: "Voucher is not published" },
  metadata_validation_failed: { http: 400, message: "Metadata validation failed" },
  unauthorized: { http: 401, message: "Unauthorized", code: Code.Unauthenticated },
  missing_required_permission: {
    http: 403,
    message: "Missing permission",
    code: Code.PermissionDenied,
  },
  forbidden: { http: 403, message: "Forbidden", code: Code.PermissionDenied },
  not_found: { http: 404, message: "Resource not found", code: Code.NotFound },
  method_not_allowed: { http: 405, message: "Method not allowed", code: Code.Unimplemented },
  not_acceptable: { http: 406, message: "Not acceptable" },
  request_timeout: { http: 408, message: "Request timeout" },
  duplicate_found: { http: 409, message: "Duplicated resource found", code: Code.AlreadyExists },
  // The misspelling is part of the interface that clients know.
  holder_assignement_duplication: {
    http: 409,
    message: "Customer is already assigned to given redeemable",
    code: Code.AlreadyExists,
  },
  stacking_rules_exist: {
    http: 409,
    message: "Stacking rules exist",
    code: Code.AlreadyExists,
  },
  idempotency_in_progress: {
    http: 409,
    message: "A request with this Idempotency-Key is in progress",
    code: Code.Aborted,
  },
  payload_too_large: { http: 413, message: "Payload too large", code: Code.ResourceExhausted },
  unsupported_media_type: { http: 415, message: "Unsupported media type" },
  range_not_satisfiable: { http: 416, message: "Range not satisfiable" },
  expectation_failed: { http: 417, message: "Expectation failed" },
  idempotency_key_reused: {
    http: 422,
    message: "The Idempotency-Key was used for another request",
  },
  too_many_requests: {
    http: 429,
    message: "Too many requests hit the API too quickly.",
    code: Code.ResourceExhausted,
  },
  internal_error: { http: 500, message: "Internal error", code: Code.Internal },
  not_implemented: { http: 501, message: "Not implemented", code: Code.Unimplemented },
  service_unavailable: { http: 503, message: "Service unavailable", code: Code.Unavailable },
  deadline_exceeded: { http: 504, message: "Deadline exceeded", code: Code.DeadlineExceeded },
} as const satisfies Record<string, Entry>;

export type ErrorKey = keyof typeof catalogue;

export function isErrorKey(text: string): text is ErrorKey {
  return Object.hasOwn(catalogue, text);
}

/** The gRPC status of a key. Without one in the catalogue: INVALID_ARGUMENT for `invalid_…`, FAILED_PRECONDITION for others. */
export function grpcCodeOf(key: ErrorKey): Code {
  const entry: Entry = catalogue[key];
  if (entry.code !== undefined) return entry.code;
  return key.startsWith("invalid_") ? Code.InvalidArgument : Code.FailedPrecondition;
}

import type { ErrorKey } from "./catalogue.ts";

type Explanation = {
  /** What happened, in one sentence for the integrator. */
  readonly cause: string;
  /** What to do about it, in one sentence. */
  readonly remedy: string;
};

/** Cause and remedy of each error key; docs/errors.md#keys is generated from it. */
export const ERROR_REFERENCE: Readonly<Record<ErrorKey, Explanation>> = {
  invalid_payload: {
    cause: "The body has a missing property, a wrong type or a value out of bounds.",
    remedy: "Correct the property that `details` names.",
  },
  invalid_query_params: {
    cause: "A filter is unknown to the list, or a query parameter is malformed or out of bounds.",
    remedy: "Correct the parameter that `details` names.",
  },
  missing_parameters: {
    cause: "A token request lacks a required form field.",
    remedy: "Send the fields that `details` names as `application/x-www-form-urlencoded`.",
  },
  invalid_scope: {
    cause: "The requested scope is empty, unknown, or not granted to the API key.",
    remedy: "Request scopes of the API key, separated by spaces and not by commas.",
  },
  invalid_grant_type: {
    cause: "The token request has a `grant_type` other than `client_credentials`.",
    remedy: "Send `grant_type=client_credentials`.",
  },
  page_over_limit: {
    cause: "The `page` is above 1000.",
    remedy: "Narrow the list with filters, or continue with a cursor where the operation has one.",
  },
  invalid_idempotency_key: {
    cause: "The idempotency key is empty, too long, or sent with an RPC that stores no responses.",
    remedy: "Send a key of 1 to 255 characters, or leave it out where `details` says so.",
  },
  duplicated_redeemables: {
    cause: "The same redeemable appears more than once in the request.",
    remedy: "Send each redeemable once.",
  },
  invalid_redeemables: {
    cause:
      "The redeemables cannot be combined: the request contains a promotion stack and other redeemables.",
    remedy: "Send the promotion stack alone.",
  },
  no_applicable_redeemables: {
    cause: "The redemption mode is PARTIAL and none of the redeemables applies.",
    remedy: "Read `inapplicable_redeemables` for the error of each redeemable.",
  },
  voucher_disabled: {
    cause: "The voucher or its campaign is inactive.",
    remedy: "Enable the voucher or the campaign, or use another code.",
  },
  voucher_expired: {
    cause: "The expiration date of the voucher or its campaign has passed.",
    remedy: "Extend the expiration date, or use another code.",
  },
  voucher_not_active: {
    cause: "The start date of the voucher or its campaign is in the future.",
    remedy: "Retry after the start date.",
  },
  voucher_not_active_now: {
    cause: "The current time is outside the validity timeframe, days or hours of the voucher.",
    remedy:
      "Retry when the voucher is active again; the project's time zone defines days and hours.",
  },
  promotion_inactive: {
    cause: "The promotion tier or its campaign is inactive.",
    remedy: "Enable the tier and its campaign, or leave the tier out.",
  },
  promotion_not_active_now: {
    cause: "The current time is outside the dates, days or hours of the tier or its campaign.",
    remedy: "Retry when the tier is active, or leave the tier out.",
  },
  quantity_exceeded: {
    cause: "All redemptions of the voucher are used, or the remaining ones are locked by sessions.",
    remedy: "Use another code, roll back a redemption, or wait until the sessions end.",
  },
  gift_amount_exceeded: {
    cause:
      "The request redeems or removes more credits than the gift card has, or sessions lock the remaining ones.",
    remedy: "Request or remove at most the balance minus the locked credits.",
  },
  loyalty_card_points_exceeded: {
    cause: "The loyalty card has fewer points than the reward or the payment needs.",
    remedy: "Request fewer points or another reward.",
  },
  missing_reward: {
    cause: "A loyalty card is redeemed without a reward.",
    remedy: "Send `reward.id`, and `reward.points` for payments with points.",
  },
  reward_out_of_stock: {
    cause: "The stock of the reward is exhausted, or sessions lock the rest.",
    remedy: "Choose another reward, or increase the stock.",
  },
  missing_param: {
    cause: "A reward assignment lacks the price of the reward in points.",
    remedy: "Send `parameters.loyalty.points`.",
  },
  invalid_balance: {
    cause: "The balance of a reward is missing, zero or negative for the type of its campaign.",
    remedy: "Send a `parameters.campaign.balance` above zero.",
  },
  missing_amount: {
    cause: "The discount or a rule needs the amount of an order, and the request has none.",
    remedy: "Send an order with `amount` or with `items`.",
  },
  missing_order: {
    cause: "Paying with points of a loyalty card needs an order.",
    remedy: "Send an `order`.",
  },
  missing_order_items_amount: {
    cause: "A gift card that pays for items finds no order item with an amount to pay for.",
    remedy: "Send order items with prices that the gift card applies to.",
  },
  missing_customer: {
    cause: "A validation rule needs a customer, and the request names none.",
    remedy: "Send `customer.id` or `customer.source_id`.",
  },
  customer_rules_violated: {
    cause: "The customer does not meet the validation rules named in `details`.",
    remedy: "Read the rules, or send another redeemable for this customer.",
  },
  order_rules_violated: {
    cause: "The order does not meet the validation rules named in `details`.",
    remedy: "Change the order so that it meets the rules, or leave the redeemable out.",
  },
  redemption_rules_violated: {
    cause: "The redemption does not meet the validation rules named in `details`.",
    remedy: "Read the rules, whose counts and metadata may depend on earlier redemptions.",
  },
  referrer_not_permitted_to_redeem: {
    cause: "The holder of a referral code tries to redeem it themselves.",
    remedy: "Redeem the code for another customer.",
  },
  ambiguous_tracking_id: {
    cause: "`tracking_id` and the `source_id` of the customer contradict each other.",
    remedy: "Send one of the two, or the same value in both.",
  },
  invalid_order: {
    cause: "The order cannot be calculated, or it is not the order of the redemption.",
    remedy: "Correct what `details` names, or send the order id of the redemption.",
  },
  invalid_expiration_date: {
    cause: "The expiration date of the points to add is in the past.",
    remedy: "Send today or a later date of the project's time zone.",
  },
  invalid_pending_points_state: {
    cause: "The pending points were already activated or canceled.",
    remedy: "No action is possible: the transactions of the card show the result.",
  },
  campaign_not_active: {
    cause: "The loyalty program is disabled or outside its time limits.",
    remedy: "Enable the campaign or change its dates.",
  },
  loyalty_card_not_active: {
    cause:
      "The customer's card of the loyalty program is disabled, has not started or has expired.",
    remedy: "Enable the card or change its dates.",
  },
  campaign_not_allow_auto_join: {
    cause:
      "The customer is not a member of the loyalty program, and the program has no `auto_join`.",
    remedy: "Assign a card to the customer first, or set `auto_join` of the campaign.",
  },
  invalid_amount: {
    cause:
      "The points to pay with give no discount on this order, or a balance adjustment is zero or exceeds the maximum balance.",
    remedy:
      "Send more points, or an order whose amount is above zero; adjust balances by another amount.",
  },
  invalid_add_balance_params: {
    cause: "The voucher has no balance that can be adjusted: it is a discount voucher.",
    remedy: "Use the code of a gift voucher or loyalty card.",
  },
  invalid_gift: {
    cause: "The requested gift credits are negative.",
    remedy: "Send `gift.credits` of zero or more.",
  },
  duplicate_key: {
    cause:
      "An import has codes that exist in the project, or the same code several times. Nothing was imported.",
    remedy: "Leave these codes out; `details` says how many there are.",
  },
  invalid_voucher: {
    cause: "The voucher or its discount is malformed, or its type does not fit the operation.",
    remedy: "Correct the property that `details` names, or use a voucher of the expected type.",
  },
  resource_protected: {
    cause:
      "The campaign is protected against changes, or the request updates `gift.amount` or `loyalty_card.points` of a voucher, which only transactions change.",
    remedy:
      "Create another campaign: the protection is set at creation and cannot be removed. Leave the amounts of vouchers out of updates.",
  },
  invalid_code_config: {
    cause: "The code configuration is malformed, or allows fewer codes than requested.",
    remedy: "Lengthen the code, extend its character set, or correct the pattern.",
  },
  invalid_customer: {
    cause:
      "The customer is not the holder of the card or code, or not the one who redeemed, or a referral code was sent without a customer.",
    remedy: "Send the customer to whom the card, code or redemption belongs.",
  },
  multiple_requests: {
    cause:
      "A redemption with the same session is in progress, or other requests used the same order for more than six seconds.",
    remedy: "Retry when the other request has finished.",
  },
  resource_in_use: {
    cause: "Other resources refer to the resource, so it cannot be deleted or changed.",
    remedy: "Delete or change the resources in `related_object_ids` first.",
  },
  invalid_campaign: {
    cause: "A property of the request does not fit the campaign, its type or its discount.",
    remedy: "Correct or leave out the property that `details` names.",
  },
  invalid_campaign_params: {
    cause: "Parameters of the campaign are missing, malformed, or contradict each other.",
    remedy: "Correct the parameter that `details` names.",
  },
  invalid_export_fields: {
    cause: "The exported object has no such field, or cannot be sorted by it.",
    remedy: "Use the fields and orders that `details` lists.",
  },
  invalid_sku: {
    cause: "The SKU has an attribute that its product does not have.",
    remedy: "Add the attribute to the product, or leave it out.",
  },
  invalid_rollback_params: {
    cause: "The redemption is older than three months, so it cannot be rolled back.",
    remedy: "Correct the balance or the counts with another operation.",
  },
  invalid_redemption_parent: {
    cause: "The redemption belongs to a stack, which is rolled back as a whole.",
    remedy: "Roll back the parent redemption with the endpoint for stacks.",
  },
  invalid_redemption: {
    cause: "The redemption is the parent of a stack, or it failed.",
    remedy: "Use the endpoint for stacks; a failed redemption needs no rollback.",
  },
  already_rolled_back: {
    cause: "The redemption was already rolled back.",
    remedy: "No action is needed: the effects of the redemption are already reverted.",
  },
  invalid_validation_rules: {
    cause: "The validation rule has an unknown name or operator, or its logic cannot be read.",
    remedy: "Correct the rule that `details` names.",
  },
  missing_vouchers: {
    cause: "A publication names neither a campaign nor a voucher.",
    remedy: "Send `campaign` or `voucher`.",
  },
  voucher_already_published: {
    cause:
      "The voucher has already been published, and a voucher can be published to one customer only.",
    remedy: "Publish another voucher, or name the campaign to receive its next free one.",
  },
  voucher_cannot_be_published: {
    cause: "The customer already holds another voucher of a campaign that can be joined once.",
    remedy:
      "Publish the voucher that the customer holds, or set `join_once` of the campaign to false.",
  },
  no_voucher_suitable_for_publication: {
    cause:
      "The campaign has no voucher left that can be published and cannot create one, has expired, or is a promotion; or the campaign of a reward is disabled or has no free voucher.",
    remedy:
      "Add vouchers to the campaign. Promotions have no vouchers: publish from another campaign.",
  },
  duplicate_source_id: {
    cause: "Another publication of the project has the same `source_id`.",
    remedy: "Send another `source_id`, or read the existing publication.",
  },
  too_many_vouchers_requested: {
    cause:
      "A publication with a `source_id` or from a campaign that customers join once requests more than one voucher.",
    remedy: "Request one voucher per publication.",
  },
  not_published: {
    cause: "The referral code or loyalty card is not published, so it has no holder.",
    remedy: "Publish the code or card to a customer first.",
  },
  metadata_validation_failed: {
    cause: "The metadata does not meet the metadata schema of the resource.",
    remedy: "Correct the properties that `details` names, or change the schema.",
  },
  unauthorized: {
    cause: "The credentials are missing, wrong, expired or revoked.",
    remedy: "Send valid credentials, or request a new access token.",
  },
  missing_required_permission: {
    cause: "The credentials are valid and lack the scope of the operation.",
    remedy: "Use a key or token with the scope that `details` names.",
  },
  forbidden: {
    cause: "The address, origin or project does not permit the operation.",
    remedy: "Change the setting that `details` names, or use credentials of another project.",
  },
  not_found: {
    cause: "The resource does not exist in the project.",
    remedy: "Check `resource_type` and `resource_id`, and the project of the credentials.",
  },
  method_not_allowed: {
    cause: "The path exists and does not support the HTTP method.",
    remedy: "Use one of the methods in the `Allow` header.",
  },
  not_acceptable: {
    cause: "The `Accept` header excludes `application/json`.",
    remedy: "Accept `application/json`, or leave the header out.",
  },
  request_timeout: {
    cause: "The request did not arrive completely in time.",
    remedy: "Send the request again over a faster connection.",
  },
  duplicate_found: {
    cause: "A resource with the same name or id exists.",
    remedy: "Use another name or id, or update the existing resource.",
  },
  holder_assignement_duplication: {
    cause:
      "The customer is a holder of the referral code already, as its referrer or as a referee.",
    remedy: "Leave the customer out, or list the holders of the code first.",
  },
  stacking_rules_exist: {
    cause: "The project already has stacking rules; it can have one set only.",
    remedy: "Update or delete the existing stacking rules.",
  },
  idempotency_in_progress: {
    cause: "A request with the same idempotency key is in progress.",
    remedy: "Retry with the same key after `Retry-After`.",
  },
  payload_too_large: {
    cause: "The body or the headers exceed the maximum size.",
    remedy: "Split the request, or shorten its headers.",
  },
  unsupported_media_type: {
    cause: "The `Content-Type` or `Content-Encoding` of the body is not supported.",
    remedy: "Send UTF-8 JSON without compression, or the form that `details` names.",
  },
  range_not_satisfiable: {
    cause: "The `Range` header begins behind the end of the file.",
    remedy: "Use a range within the size that `Content-Range` shows, or leave the header out.",
  },
  expectation_failed: {
    cause: "The `Expect` header has a value other than `100-continue`.",
    remedy: "Leave the header out.",
  },
  idempotency_key_reused: {
    cause: "The idempotency key was used for another request.",
    remedy: "Use a new key for each request, and the same key only for retries of that request.",
  },
  too_many_requests: {
    cause:
      "The rate limit of the project or the limit of concurrent requests is exceeded, the caller sent too many unknown codes, or too many requests had invalid credentials.",
    remedy: "Retry after `Retry-After`, and reduce the request rate.",
  },
  internal_error: {
    cause: "An unexpected error occurred in Scrip.",
    remedy: "Retry with an idempotency key, and report the `request_id` if it persists.",
  },
  not_implemented: {
    cause: "The service does not implement this RPC.",
    remedy: "Check that client and server have the same version.",
  },
  service_unavailable: {
    cause: "The database or another service is not reachable or overloaded.",
    remedy: "Retry after `Retry-After` with an idempotency key.",
  },
  deadline_exceeded: {
    cause: "The request was not completed within its deadline.",
    remedy: "Retry with an idempotency key: the first request may have taken effect.",
  },
};

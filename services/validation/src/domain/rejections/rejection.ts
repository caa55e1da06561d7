import type { ErrorKey, ApiErrorOptions } from "@scrip/errors";

/**
 * An error as a value, so that the decision can continue after it. The message is that of the error
 * catalogue unless `message` overrides it. docs/errors.md#keys
 */
export type Rejection = { readonly key: ErrorKey } & Readonly<Omit<ApiErrorOptions, "cause">>;

export const rejectionForCode = (key: ErrorKey, code: string): Rejection => ({
  key,
  details: code,
});

export const resourceNotFound = (resourceType: string, id: string): Rejection => ({
  key: "not_found",
  details: `Cannot find ${resourceType} with id ${id}`,
  resourceId: id,
  resourceType,
});

/**
 * Endpoints for a single voucher or tier report all violated rules under one key.
 * docs/validation-rules.md#rejections
 */
export function singleRedeemableRejection(rejection: Rejection): Rejection {
  switch (rejection.key) {
    case "customer_rules_violated":
    case "order_rules_violated":
      return { ...rejection, key: "redemption_rules_violated" };
    default:
      return rejection;
  }
}

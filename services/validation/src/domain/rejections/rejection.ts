import type { ErrorKey, ApiErrorOptions } from "@scrip/errors";

/**
 * A rejection as a value, for decisions that go on after it. The text beside the key is the
 * catalogue's unless `message` replaces it.
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

/** Endpoints for one voucher or tier have one key for all violated rules (§3.6). */
export function singleRedeemableRejection(rejection: Rejection): Rejection {
  switch (rejection.key) {
    case "customer_rules_violated":
    case "order_rules_violated":
      return { ...rejection, key: "redemption_rules_violated" };
    default:
      return rejection;
  }
}

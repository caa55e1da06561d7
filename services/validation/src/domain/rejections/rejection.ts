import type { ErrorKey, ApiErrorOptions } from "@scrip/errors";

/**
 * A refusal as a value, for decisions that go on after it. The text beside the key is the
 * catalogue's unless `message` replaces it.
 */
export type Refused = { readonly key: ErrorKey } & Readonly<Omit<ApiErrorOptions, "cause">>;

export const refusedForCode = (key: ErrorKey, code: string): Refused => ({ key, details: code });

export const resourceNotFound = (resourceType: string, id: string): Refused => ({
  key: "not_found",
  details: `Cannot find ${resourceType} with id ${id}`,
  resourceId: id,
  resourceType,
});

/** Endpoints for one voucher or tier have one key for all violated rules (§3.6). */
export function singleRefusal(refusal: Refused): Refused {
  switch (refusal.key) {
    case "customer_rules_violated":
    case "order_rules_violated":
      return { ...refusal, key: "redemption_rules_violated" };
    default:
      return refusal;
  }
}

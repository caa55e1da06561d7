import { invalidPayload } from "@scrip/errors";

import type { Call } from "./call.ts";

/**
 * An object whose id the gateway reserved to assign validation rules first
 * (services/decisions/0004).
 */
export type Reservation = {
  readonly reservedId?: string | undefined;
  readonly validationRules: readonly string[];
};

/**
 * The id of a new object: the reserved one, or a new one. Rules that are still in the request
 * bypassed the gateway, and the object would be created without them: they are rejected.
 */
export function reservedOrNewId(
  { reservedId, validationRules }: Reservation,
  call: Call,
  make: () => string,
): string {
  if (validationRules.length > 0) {
    throw invalidPayload(
      "Property .validation_rules is available in the HTTP API only; assign rules with ValidationRuleService.CreateAssignment",
    );
  }
  if (reservedId === undefined) return make();
  if (call.caller.side === "service") {
    throw invalidPayload("Property .reserved_id can be set by the gateway only");
  }
  return reservedId;
}

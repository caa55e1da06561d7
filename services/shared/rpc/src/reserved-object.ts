import { invalidPayload } from "@scrip/errors";

import type { Call } from "./call.ts";

/** What the gateway does beside the creation of an object (services/decisions/0004). */
export type Reservation = {
  readonly reservedId?: string | undefined;
  readonly validationRules: readonly string[];
};

/**
 * The id of an object that is about to be made: the one that the gateway assigned validation rules to,
 * or a new one. Rules that are still in the request came past the gateway: without this refusal the
 * object would be made without them.
 */
export function reservedOrNewId(
  { reservedId, validationRules }: Reservation,
  call: Call,
  make: () => string,
): string {
  if (validationRules.length > 0) {
    throw invalidPayload(
      "Property .validation_rules is known to the HTTP API only: assign rules with ValidationRuleService.CreateAssignment",
    );
  }
  if (reservedId === undefined) return make();
  if (call.caller.side === "service") {
    throw invalidPayload("Property .reserved_id belongs to the gateway");
  }
  return reservedId;
}

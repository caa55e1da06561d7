import { ApiError } from "@scrip/errors";

import type { Campaign } from "../domain/campaign.ts";

/** Rejects a change of a campaign that an operator has protected. */
export function requireUnprotected({ id, isProtected }: Campaign): void {
  if (!isProtected) return;
  throw new ApiError("resource_protected", {
    details: `Campaign ${id} is protected`,
    resourceId: id,
    resourceType: "campaign",
  });
}

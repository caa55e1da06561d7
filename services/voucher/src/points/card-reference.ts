import { ApiError } from "@scrip/errors";

import type { StoredVoucher } from "../store/voucher-rows.ts";

/** A card as the loyalty service identifies it. */
export const cardReferenceOf = ({ definition }: StoredVoucher) => ({
  $typeName: "scrip.loyalty.v1.CardReference" as const,
  projectId: definition.projectId,
  cardId: definition.id,
  initialPoints: definition.loyaltyPoints ?? 0n,
  ...(definition.campaignId !== null && { campaignId: definition.campaignId }),
});

/** Rejects a card without holder: its points are not adjusted or transferred. */
export function requirePublished({ definition: { holderId, code } }: StoredVoucher): void {
  if (holderId !== null) return;
  throw new ApiError("not_published", { details: `Loyalty card ${code} has no holder` });
}

import type { CampaignType } from "./voucher.ts";

/** A voucher that the customer holds, and the publication that assigned it. */
export type EarlierPublication = { readonly voucherId: string; readonly publicationId: string };

/**
 * Whether customers join the campaign once (docs/publications.md#join-once). Loyalty programs are joined once,
 * regardless of the request.
 */
export function joinsOnce(
  sent: boolean | undefined,
  campaign: { readonly type: CampaignType; readonly joinOnce: boolean } | null,
): boolean {
  if (campaign?.type === "LOYALTY_PROGRAM") return true;
  return sent ?? campaign?.joinOnce ?? false;
}

/** Whether the request asks for what the customer got by joining: the existing publication is returned then. */
export const repeatsJoining = (
  earlier: EarlierPublication,
  voucher: { readonly id: string } | null,
): boolean => voucher === null || voucher.id === earlier.voucherId;

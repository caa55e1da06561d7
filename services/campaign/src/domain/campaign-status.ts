import type { CampaignStatus } from "./campaign.ts";

/** Both statuses of a new campaign (docs/campaigns.md#status). */
export const initialStatus = (requestedCodes: bigint): CampaignStatus =>
  requestedCodes > 0n ? "IN_PROGRESS" : "DONE";

/** Adding vouchers does not repair a failed creation or update. */
export const statusAfterAddingVouchers = (before: CampaignStatus): CampaignStatus =>
  before === "FAILED" ? "FAILED" : "DONE";

/** A rejected update changed nothing; after any other error the vouchers may differ from the campaign. */
export const statusAfterFailedUpdate = (
  before: CampaignStatus,
  { rejected }: { readonly rejected: boolean },
): CampaignStatus => (rejected ? before : "FAILED");

import type { CampaignStatus } from "./campaign.ts";

export type CampaignJobType = "GENERATE" | "UPDATE" | "DELETE";

/** Work on the vouchers of a campaign, and how far it is. */
export type CampaignJob = {
  readonly id: string;
  readonly campaignId: string;
  readonly type: CampaignJobType;
  /** The request in binary form; null if the campaign contains everything. */
  readonly request: Uint8Array | null;
  /** Deletions: also frees names and codes. */
  readonly permanent: boolean;
  readonly total: bigint;
  readonly done: bigint;
  /** The last voucher that was handled; generations count `done` instead. */
  readonly position: string;
  readonly status: "PENDING" | "DONE" | "FAILED";
  readonly createdAt: number;
};

export type CampaignStatuses = {
  readonly creation: CampaignStatus;
  readonly generation: CampaignStatus;
};

/** The statuses of a campaign after a job, of which `next` is the following one that waits (docs/campaigns.md#status). */
export function statusesAfterJob(
  before: CampaignStatus,
  { ended, next }: { readonly ended: CampaignJobType; readonly next: CampaignJobType | null },
): CampaignStatuses {
  if (next === "UPDATE") return { creation: "MODIFYING", generation: "MODIFYING" };
  // Adding vouchers does not repair a failed creation or update.
  const creation = before === "FAILED" && ended === "GENERATE" ? "FAILED" : "DONE";
  return { creation, generation: next === "GENERATE" ? "IN_PROGRESS" : creation };
}

import { ApiError } from "@scrip/errors";
import type { BinEntry } from "@scrip/proto/scrip/campaign/v1/trash_bin_pb";
import type { CampaignActionService } from "@scrip/proto/scrip/export/v1/campaign_actions_pb";
import type { Call, Handler } from "@scrip/rpc";

import { startCampaignAction } from "../campaign/start-campaign-action.ts";
import type { Deps } from "../deps.ts";

export const deleteBinEntry =
  (deps: Deps): Handler<typeof CampaignActionService.method.deleteBinEntry> =>
  async ({ binEntryId }, call) => {
    const entry = await deps.bin.getBinEntry({ binEntryId }, call);
    await purge(deps, entry, call).catch((error: unknown) => {
      // An earlier attempt removed it, but not its entry.
      if (!(error instanceof ApiError) || error.key !== "not_found") throw error;
    });
    await deps.bin.removeBinEntry({ binEntryId }, call);
    return { $typeName: "google.protobuf.Empty" };
  };

/** The owner removes the object for good. */
async function purge(
  { db, campaignJobs, vouchers, products, newId }: Deps,
  { resourceType, resourceId }: BinEntry,
  call: Call,
): Promise<void> {
  if (resourceType === "voucher") {
    await vouchers.deleteVoucher({ code: resourceId, force: true }, call);
    return;
  }
  if (resourceType !== "campaign") {
    await products.purgeBinnedEntry({ id: resourceId }, call);
    return;
  }
  const jobId = newId("aa");
  const job = await campaignJobs.requestPurge({ jobId, campaignId: resourceId }, call);
  await db.transaction((tx) => startCampaignAction(tx, call, job));
}

import { enqueue } from "@scrip/events";
import type { CampaignJobService } from "@scrip/proto/scrip/campaign/v1/campaign_jobs_pb";
import { CampaignChanged_Change } from "@scrip/proto/scrip/events/v1/campaigns_pb";
import type { Handler } from "@scrip/rpc";

import { acquireCampaignLock } from "../campaign/campaign-lock.ts";
import { requireCampaign } from "../campaign/require-campaign.ts";
import { requireUnprotected } from "../campaign/require-unprotected.ts";
import type { Deps } from "../deps.ts";
import { campaignChanged } from "../events/campaign-events.ts";
import { announceDeletedProgram } from "../events/loyalty-program-changed.ts";
import { addJob } from "../job/add-job.ts";
import { runFirstSlice } from "../job/run-first-slice.ts";
import { campaignJobToProto } from "../mapping/campaign-job.ts";
import { insertBinEntries } from "../store/bin-entries.ts";
import { failPending } from "../store/campaign-jobs.ts";
import { markCampaignDeleted } from "../store/deleted-campaigns.ts";

export const requestDeletion =
  (deps: Deps): Handler<typeof CampaignJobService.method.requestDeletion> =>
  async ({ jobId, campaignId: idOrName, force: permanent }, call) => {
    const projectId = call.project.id;
    requireUnprotected((await requireCampaign(deps.db, projectId, idOrName)).campaign);
    // Waits for requests that create its vouchers.
    const { record } = await acquireCampaignLock(deps, call, idOrName);
    const { id, name, vouchersCount: total } = record.campaign;
    const job = await deps.definitions.write(projectId, async (tx) => {
      await failPending(tx, projectId, id);
      await markCampaignDeleted(tx, projectId, { id, at: call.now, permanent });
      if (!permanent) {
        const resource = { resourceId: id, resourceType: "campaign", resourceName: name } as const;
        const entryId = deps.newId("tbe");
        await insertBinEntries(tx, [
          { projectId, id: entryId, ...resource, parentId: null, createdAt: call.now },
        ]);
      }
      const change = CampaignChanged_Change.DELETED;
      const event = campaignChanged(deps.newId("event"), { id, name }, { call, change });
      await enqueue(tx, [event], call);
      if (record.campaign.campaignType === "LOYALTY_PROGRAM") {
        await announceDeletedProgram(tx, call, id);
      }
      const request = { id: jobId, campaignId: id, type: "DELETE", total, permanent } as const;
      return addJob(tx, { deps, call }, request);
    });
    deps.onEvents();
    return campaignJobToProto(await runFirstSlice(deps, call, job));
  };

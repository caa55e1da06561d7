import { notFound } from "@scrip/errors";
import type { CampaignJobService } from "@scrip/proto/scrip/campaign/v1/campaign_jobs_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { addJob } from "../job/add-job.ts";
import { runSmallJob } from "../job/run-first-slice.ts";
import { campaignJobToProto } from "../mapping/campaign-job.ts";
import { deleteBinEntriesOf } from "../store/bin-entries.ts";
import { freeName } from "../store/deleted-campaigns.ts";

export const requestPurge =
  (deps: Deps): Handler<typeof CampaignJobService.method.requestPurge> =>
  async ({ jobId: id, campaignId }, call) => {
    const projectId = call.project.id;
    const job = await deps.db.transaction(async (tx) => {
      const total = await freeName(tx, projectId, campaignId);
      if (total === undefined) throw notFound("campaign", campaignId);
      await deleteBinEntriesOf(tx, projectId, [campaignId]);
      const request = { id, campaignId, type: "DELETE", total, permanent: true } as const;
      return addJob(tx, { deps, call }, request);
    });
    deps.onEvents();
    return campaignJobToProto(await runSmallJob(deps, call, job));
  };

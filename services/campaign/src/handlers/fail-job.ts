import type { CampaignJobService } from "@scrip/proto/scrip/campaign/v1/campaign_jobs_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { endFailedJob } from "../job/fail-job.ts";
import { findJob } from "../store/campaign-jobs.ts";

export const failJob =
  (deps: Deps): Handler<typeof CampaignJobService.method.failJob> =>
  async ({ jobId }, call) => {
    const job = await findJob(deps.db, call.project.id, jobId);
    if (job !== undefined) await endFailedJob(deps, call, job);
    return { $typeName: "scrip.campaign.v1.FailJobResponse" };
  };

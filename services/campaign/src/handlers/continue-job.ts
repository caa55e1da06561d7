import { notFound } from "@scrip/errors";
import type { CampaignJobService } from "@scrip/proto/scrip/campaign/v1/campaign_jobs_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { runSlice } from "../job/run-slice.ts";
import { campaignJobToProto } from "../mapping/campaign-job.ts";
import { findJob } from "../store/campaign-jobs.ts";

export const continueJob =
  (deps: Deps): Handler<typeof CampaignJobService.method.continueJob> =>
  async ({ jobId }, call) => {
    const job = await findJob(deps.db, call.project.id, jobId);
    if (job === undefined) throw notFound("async_action", jobId);
    return campaignJobToProto(job.status === "PENDING" ? await runSlice(deps, call, job) : job);
  };

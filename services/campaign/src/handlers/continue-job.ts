import { ApiError, notFound } from "@scrip/errors";
import { finalErrorOf } from "@scrip/idempotency";
import type { CampaignJobService } from "@scrip/proto/scrip/campaign/v1/campaign_jobs_pb";
import type { Call, Handler } from "@scrip/rpc";

import { requireCampaign } from "../campaign/require-campaign.ts";
import type { Deps } from "../deps.ts";
import type { CampaignJob } from "../domain/campaign-job.ts";
import { endFailedJob } from "../job/fail-job.ts";
import { runSlice } from "../job/run-slice.ts";
import { campaignJobToProto } from "../mapping/campaign-job.ts";
import { findFirstPending, findJob } from "../store/campaign-jobs.ts";

export const continueJob =
  (deps: Deps): Handler<typeof CampaignJobService.method.continueJob> =>
  async ({ jobId }, call) => {
    const projectId = call.project.id;
    const job = await findJob(deps.db, projectId, jobId);
    if (job === undefined) throw notFound("async_action", jobId);
    if (job.status === "FAILED") {
      await requireCampaign(deps.db, projectId, job.campaignId);
      throw new ApiError("invalid_campaign", { details: `Job ${jobId} could not be completed` });
    }
    if (job.status === "DONE") return campaignJobToProto(job);
    const first = (await findFirstPending(deps.db, projectId, job.campaignId)) ?? job;
    if (first.id === job.id) return campaignJobToProto(await runSlice(deps, call, job));
    await runEarlier(deps, call, first);
    return campaignJobToProto(job);
  };

/**
 * The async action of an earlier job may start later, as its event arrives: the job is carried out all the same, so that
 * the jobs of a campaign run in the order of their requests. Its failure must not end this action.
 */
async function runEarlier(deps: Deps, call: Call, job: CampaignJob): Promise<void> {
  try {
    await runSlice(deps, call, job);
  } catch (error) {
    // An outage; the slice is repeated.
    if (finalErrorOf(error, call.requestId) === undefined) throw error;
    await endFailedJob(deps, call, job);
  }
}

import type { CampaignJobService } from "@scrip/proto/scrip/campaign/v1/campaign_jobs_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { advanceJob, findJob, setStatuses } from "../store/campaign-jobs.ts";

export const failJob =
  ({ db }: Deps): Handler<typeof CampaignJobService.method.failJob> =>
  async ({ jobId }, { project }) => {
    const projectId = project.id;
    const job = await findJob(db, projectId, jobId);
    if (job !== undefined) {
      const { campaignId, position } = job;
      await db.transaction(async (tx) => {
        const end = { job, by: 0n, position, status: "FAILED" as const };
        if (!(await advanceJob(tx, projectId, end))) return;
        const statuses = { creation: "FAILED", generation: "FAILED" } as const;
        await setStatuses(tx, { projectId, campaignId }, statuses);
      });
    }
    return { $typeName: "scrip.campaign.v1.FailJobResponse" };
  };

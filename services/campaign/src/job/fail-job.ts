import type { Deps } from "../deps.ts";
import type { CampaignJob } from "../domain/campaign-job.ts";
import { advanceJob, setStatuses } from "../store/campaign-jobs.ts";

const FAILED = { creation: "FAILED", generation: "FAILED" } as const;

/** Ends a job that cannot be continued; nothing if another attempt has moved it on. */
export async function endFailedJob(
  { db }: Pick<Deps, "db">,
  projectId: string,
  job: CampaignJob,
): Promise<void> {
  const { campaignId, position } = job;
  await db.transaction(async (tx) => {
    const end = { job, by: 0n, position, status: "FAILED" as const };
    if (await advanceJob(tx, projectId, end))
      await setStatuses(tx, { projectId, campaignId }, FAILED);
  });
}

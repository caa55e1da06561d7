import { enqueue } from "@scrip/events";
import { CampaignChanged_Change } from "@scrip/proto/scrip/events/v1/campaigns_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { CampaignJob } from "../domain/campaign-job.ts";
import { campaignChanged } from "../events/campaign-events.ts";
import { advanceJob, lockStatus, setStatuses } from "../store/campaign-jobs.ts";

const FAILED = { creation: "FAILED", generation: "FAILED" } as const;

/** Ends a job that cannot be continued; does nothing if another attempt has advanced it. */
export async function endFailedJob(
  { db, newId, onEvents }: Pick<Deps, "db" | "newId" | "onEvents">,
  call: Call,
  job: CampaignJob,
): Promise<void> {
  const projectId = call.project.id;
  const { campaignId, position } = job;
  await db.transaction(async (tx) => {
    const end = { job, by: 0n, position, status: "FAILED" as const };
    if (!(await advanceJob(tx, projectId, end))) return;
    await setStatuses(tx, { projectId, campaignId }, FAILED);
    const campaign = await lockStatus(tx, projectId, campaignId);
    if (job.type !== "GENERATE" || campaign === undefined) return;
    const change = CampaignChanged_Change.VOUCHERS_GENERATION_FAILED;
    const { name } = campaign;
    const failed = { call, change, jobId: job.id };
    await enqueue(tx, [campaignChanged(newId("event"), { id: campaignId, name }, failed)], call);
  });
  onEvents();
}

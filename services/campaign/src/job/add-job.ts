import { enqueue } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { CampaignJob } from "../domain/campaign-job.ts";
import { jobRequested } from "../events/campaign-events.ts";
import { insertJob } from "../store/campaign-jobs.ts";

export type NewJob = Pick<CampaignJob, "id" | "campaignId" | "type" | "total"> &
  Partial<Pick<CampaignJob, "request" | "permanent">>;

/** Adds a job, and the event that starts its async action, in the transaction of the request. */
export async function addJob(
  tx: Queryable,
  { deps, call }: { readonly deps: Pick<Deps, "newId">; readonly call: Call },
  request: NewJob,
): Promise<CampaignJob> {
  const job: CampaignJob = {
    request: null,
    permanent: false,
    ...request,
    done: 0n,
    position: "",
    status: "PENDING",
    createdAt: call.now,
  };
  await insertJob(tx, call.project.id, job);
  await enqueue(tx, [jobRequested(deps.newId("event"), job, call)], call);
  return job;
}

import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { CampaignJob } from "../domain/campaign-job.ts";
import { runSlice, SLICE } from "./run-slice.ts";

/**
 * Carries out a job of one slice before the request ends, so that the caller sees its effect immediately. A failure is
 * left to the async action, which repeats the slice.
 */
export async function runSmallJob(deps: Deps, call: Call, job: CampaignJob): Promise<CampaignJob> {
  if (job.total >= BigInt(SLICE)) return job;
  try {
    return await runSlice(deps, call, job);
  } catch {
    return job;
  }
}

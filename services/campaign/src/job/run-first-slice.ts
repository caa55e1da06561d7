import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { CampaignJob } from "../domain/campaign-job.ts";
import { runSlice, SLICE } from "./run-slice.ts";

/**
 * Carries out the first slice of a job before the request ends, so that the caller sees the effect of a small job
 * immediately. A failure is left to the async action, which repeats the slice.
 */
export async function runFirstSlice(
  deps: Deps,
  call: Call,
  job: CampaignJob,
): Promise<CampaignJob> {
  try {
    return await runSlice(deps, call, job);
  } catch {
    return job;
  }
}

/** As `runFirstSlice`, if that is the whole job. */
export const runSmallJob = async (deps: Deps, call: Call, job: CampaignJob): Promise<CampaignJob> =>
  job.total >= BigInt(SLICE) ? job : runFirstSlice(deps, call, job);

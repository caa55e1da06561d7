import { currentTime } from "@scrip/clock";
import type { JobService } from "@scrip/proto/scrip/loyalty/v1/jobs_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { runDueNights } from "../jobs/nightly.ts";
import { projectTimeFromProto } from "../mapping/project-time.ts";

/** The response still has to reach the caller. */
const MARGIN_MS = 1_000;

export const runDueJobs =
  (deps: Deps): Handler<typeof JobService.method.runDueJobs> =>
  async (request, call) => {
    const { projectId, timeZone } = request;
    const due = { projectId, timeZone, now: projectTimeFromProto(request) };
    const finished = await runDueNights(deps, due, () => currentTime() > call.deadline - MARGIN_MS);
    return { $typeName: "scrip.loyalty.v1.RunDueJobsResponse", finished };
  };

import type { Message } from "@bufbuild/protobuf";
import { isMessage } from "@bufbuild/protobuf";
import { currentTime } from "@scrip/clock";
import { ApiError } from "@scrip/errors";
import { ProjectSchema, ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";

import type { DueJobs } from "./clients/due-jobs.ts";
import type { CompileStep } from "./step.ts";

/** Setting the clock of a sandbox runs the nightly jobs that fell due before it returns. */
export const runDueJobsStep: CompileStep = ({ rpc }, { dueJobs }) => {
  if (rpc !== ProjectService.method.setClock || dueJobs === undefined) return undefined;
  return (next) => async (message, call) => {
    const response = await next(message, call);
    await runDueJobs(dueJobs, response, call.deadline);
    return response;
  };
};

async function runDueJobs(dueJobs: DueJobs, response: Message, deadline: number): Promise<void> {
  if (!isMessage(response, ProjectSchema) || response.now === undefined) return;
  const { id: projectId, timezone: timeZone, now } = response;
  while (!(await dueJobs.run({ projectId, timeZone, now }, deadline))) {
    // The clock is set; a retry runs the remaining jobs, and so does the nightly job.
    if (currentTime() > deadline - 1_000) throw new ApiError("deadline_exceeded");
  }
}

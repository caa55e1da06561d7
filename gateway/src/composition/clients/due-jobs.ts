import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { currentTime } from "@scrip/clock";
import { newRequestId } from "@scrip/ids";
import { JobService, type RunDueJobsRequestSchema } from "@scrip/proto/scrip/loyalty/v1/jobs_pb";
import { batchCall, clientOf } from "@scrip/rpc";

/** The nightly jobs of the loyalty service. */
export type DueJobs = {
  /** Runs what is due; false when there is more. */
  run(due: MessageInitShape<typeof RunDueJobsRequestSchema>, deadline: number): Promise<boolean>;
};

export function createDueJobsClient(transport: Transport): DueJobs {
  const client = clientOf(JobService, transport);
  return {
    run: async (due, deadline) => {
      const call = batchCall(newRequestId(), deadline, currentTime());
      return (await client.runDueJobs(due, call)).finished;
    },
  };
}

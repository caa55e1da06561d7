import type { Queryable } from "@scrip/postgres";

import { startAction } from "../store/async-actions.ts";
import type { StartingCall } from "../store/jobs.ts";

/** Starts the async action of a campaign's job, which has the same id. The event of the job starts it too; once counts. */
export const startCampaignAction = (
  tx: Queryable,
  call: StartingCall,
  job: { readonly id: string; readonly type: string; readonly total: bigint },
): Promise<void> =>
  startAction(tx, call, { id: job.id, type: job.type, input: {}, total: Number(job.total) });

import type { Clients } from "../clients.ts";
import { type AnyJobDefinition, defineJob } from "../jobs/job-definition.ts";

/** Types of async actions that carry out jobs of the campaign service. */
const VERBS = {
  "CAMPAIGN.VOUCHERS_GENERATE": "Generated",
  "CAMPAIGN.VOUCHERS_UPDATE": "Updated",
  "CAMPAIGN.VOUCHERS_DELETE": "Deleted",
} as const;

/**
 * The campaign service knows how far its jobs are, so the position only says that there is more. A repeated slice has
 * no second effect, and its count is the difference to what is stored here.
 */
export const campaignJobs = ({
  campaignJobs: jobs,
}: Pick<Clients, "campaignJobs">): readonly AnyJobDefinition[] =>
  Object.entries(VERBS).map(([type, verb]) =>
    defineJob<Record<string, never>, true>({
      type,
      async slice({ id: jobId, processed, call }) {
        const { done, total, finished } = await jobs.continueJob({ jobId }, call("continue"));
        return {
          processed: Number(done - processed),
          // An earlier job of the campaign was continued.
          isWaiting: done === processed && !finished,
          // Vouchers that publications create concurrently are handled too.
          total: Number(total > done ? total : done),
          next: finished ? null : true,
        };
      },
      result: ({ processed }) => ({
        message: `${verb} ${processed} vouchers.`,
        done_count: Number(processed),
      }),
      async onFailed({ id: jobId, call }) {
        await jobs.failJob({ jobId }, call("fail"));
      },
    }),
  );

import { ApiError } from "@scrip/errors";

import type { Deps } from "../deps.ts";
import { payReward } from "../referral/pay-reward.ts";
import { recordFailedAttempt, takeDueRewards } from "../store/referral-rewards.ts";
import { startAttempts } from "./start-attempts.ts";

const EVERY_MS = 500;
/** Attempts of one batch must end before the rewards are due again. */
const BATCH = 20;

/** Pays due rewards of referral programs, until disposed. Safe to run in several processes concurrently. */
export const startRewardPayment = (deps: Deps): ReturnType<typeof startAttempts> =>
  startAttempts({
    everyMs: EVERY_MS,
    batchSize: BATCH,
    attempt: () => payDueRewards(deps),
    onError: deps.onError,
  });

/** Pays one batch; returns the number of attempts. A failure is recorded and tried again later. */
export async function payDueRewards(deps: Deps): Promise<number> {
  const due = await takeDueRewards(deps.db, BATCH);
  for (const reward of due) {
    try {
      await payReward(deps, reward);
    } catch (error) {
      const reason = error instanceof ApiError ? `${error.key}: ${error.options.details}` : null;
      // Anything but a rejection is an outage or a bug.
      if (reason === null) {
        deps.onError(error instanceof Error ? error : new Error(String(error)));
      }
      await recordFailedAttempt(deps.db, reward, reason ?? String(error));
    }
  }
  return due.length;
}

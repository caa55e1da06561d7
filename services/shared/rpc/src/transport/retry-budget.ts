/** Repetitions per call over time: with the bursts of two callers, at most a tenth of a thousand calls is repeated. */
const SHARE = 0.08;
/** Maximum number of retries in a burst. */
const MAX_SAVED = 10;

export type RetryBudget = {
  /** Counts a call that is sent for the first time. */
  readonly countCall: () => void;
  /** Whether a call may be repeated; counts the repetition. */
  readonly take: () => boolean;
};

/** Limits the repetitions of calls to a share of them, plus a few: retries must not multiply the load of a service in trouble. */
export function createRetryBudget(): RetryBudget {
  let saved = MAX_SAVED;
  return {
    countCall() {
      saved = Math.min(MAX_SAVED, saved + SHARE);
    },
    take() {
      if (saved < 1) return false;
      saved -= 1;
      return true;
    },
  };
}

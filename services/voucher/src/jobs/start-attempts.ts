import { startWokenJob } from "@scrip/rpc";

/** What other processes have left, and what becomes due later, is found as late. */
const IDLE_MS = 3_000;

/**
 * Attempts what is due, batch by batch, until disposed: every `everyMs` after `wake` and after each attempt, whose
 * repetition may be due soon. `attempt` returns the size of its batch, at most `batchSize`.
 */
export function startAttempts({
  everyMs,
  batchSize,
  attempt,
  onError,
}: {
  readonly everyMs: number;
  readonly batchSize: number;
  readonly attempt: () => Promise<number>;
  readonly onError: (error: Error) => void;
}): ReturnType<typeof startWokenJob> {
  const job = startWokenJob({
    everyMs,
    idleMs: IDLE_MS,
    async batch() {
      const attempts = await attempt();
      if (attempts > 0) job.wake();
      return attempts === batchSize;
    },
    onError,
  });
  return job;
}

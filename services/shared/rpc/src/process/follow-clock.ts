import { adjustClockTo } from "@scrip/postgres";
import type { Logger } from "@scrip/telemetry";

import { startPeriodicJob } from "./periodic-job.ts";

const EVERY_MS = 30_000;

/**
 * Keeps the clock of a process on the time of its database. It agrees from the start, so nothing
 * that decides about time may start before.
 */
export async function followClock(databaseUrl: string, logger: Logger): Promise<AsyncDisposable> {
  const work = () => adjustClockTo(databaseUrl);
  await work();
  return startPeriodicJob({
    everyMs: EVERY_MS,
    work,
    onError: (error) => logger.warn({ err: error }, "the clock of the database cannot be read"),
  });
}

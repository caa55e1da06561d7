import { adjustClockTo } from "@scrip/postgres";
import type { Logger } from "@scrip/telemetry";

const EVERY_MS = 30_000;

/**
 * Keeps the clock of a process on the time of its database. It agrees from the start, so nothing
 * that decides about time may start before.
 */
export async function followClock(
  databaseUrl: string,
  logger: Pick<Logger, "warn">,
  everyMs = EVERY_MS,
): Promise<Disposable> {
  await adjustClockTo(databaseUrl);
  const timer = setInterval(() => {
    adjustClockTo(databaseUrl).catch((error: unknown) =>
      logger.warn({ err: error }, "the clock of the database cannot be read"),
    );
  }, everyMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

import { adjustClock } from "@scrip/clock";
import type { Database } from "@scrip/postgres";

import { startPeriodicJob } from "./periodic-job.ts";

const EVERY_MS = 10_000;

/** Keeps the clock of this process on the time of the database; it agrees with it from the start. */
export async function followClock(
  db: Database,
  onError: (error: Error) => void,
): Promise<AsyncDisposable> {
  const adjust = () => adjustClock(() => readClock(db));
  await adjust();
  return startPeriodicJob({ everyMs: EVERY_MS, work: adjust, onError });
}

async function readClock(db: Database): Promise<number> {
  const { rows } = await db.query<{ readonly time: number }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::float8 as time",
  );
  return Number(rows[0]?.time);
}

import { startBatchJob } from "./periodic-job.ts";

/** Small, so that locks are held briefly. */
const CHUNK = 1_000;
const EVERY_MS = 10 * 60_000;
/** After each full chunk, so that a long deletion leaves time to requests. */
const PAUSE_MS = 100;

/**
 * Deletes expired rows in chunks every ten minutes, until disposed. `deleteChunk` deletes up to `limit` rows and
 * returns their number.
 */
export const startExpiryJob = (
  deleteChunk: (limit: number) => Promise<number>,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startBatchJob({
    everyMs: EVERY_MS,
    pauseMs: PAUSE_MS,
    batch: async () => (await deleteChunk(CHUNK)) === CHUNK,
    onError,
  });

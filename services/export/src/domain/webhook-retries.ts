const MINUTE_MS = 60_000;

/** Pauses before the 12 repetitions of a delivery: doubling from one minute, and at last a day. */
const PAUSES_MS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_440].map(
  (minutes) => minutes * MINUTE_MS,
);

/** The pause after this number of failed attempts; undefined: the delivery has failed for good. */
export const pauseAfter = (failedAttempts: number): number | undefined =>
  PAUSES_MS[failedAttempts - 1];

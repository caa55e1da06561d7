const LEAST_MOST_SECONDS = 3;
const GREATEST_MOST_SECONDS = 15;
/** Rejections per second for which each further second of spread is worth waiting. */
const PER_SECOND = 25;
const WINDOW_MS = 1_000;

/**
 * Seconds after which a rejected request should return: random, so that the requests of a burst do not return
 * together, and over a longer time the more requests are rejected. Clients that cannot be served for a while would
 * otherwise take the processor time that serves others.
 */
export function createRetrySpread({
  now,
  random,
}: {
  /** A clock in milliseconds. */
  readonly now: () => number;
  /** From 0 to less than 1. */
  readonly random: () => number;
}): () => number {
  let windowStart = now();
  let counted = 0;
  /** Rejections in the last window that has ended. */
  let perWindow = 0;
  return () => {
    const elapsed = now() - windowStart;
    if (elapsed >= WINDOW_MS) {
      perWindow = elapsed < 2 * WINDOW_MS ? counted : 0;
      windowStart = now();
      counted = 0;
    }
    counted += 1;
    const wanted = Math.ceil(Math.max(perWindow, counted) / PER_SECOND);
    const most = Math.min(Math.max(wanted, LEAST_MOST_SECONDS), GREATEST_MOST_SECONDS);
    return 1 + Math.floor(random() * most);
  };
}

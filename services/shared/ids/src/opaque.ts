import { randomFillSync } from "node:crypto";

const COUNTER_BITS = 24;
const COUNTER_END = 2 ** COUNTER_BITS;
const MILLISECOND_DIGITS = 12;

export type OpaqueSourceOptions = {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Where the counter of a millisecond starts, from 0 and below half of its range. */
  readonly start: () => number;
};

/**
 * Makes strings of 18 hex digits that sort by creation: 48 bits of milliseconds, then a counter of
 * 24 bits. The counter starts anew at random in each millisecond, so that processes rarely meet, and
 * in the lower half, so that eight million ids fit behind any start. When the clock goes backwards
 * the last millisecond goes on: within a process the strings never stop growing.
 */
export function createOpaqueSource(options: Partial<OpaqueSourceOptions> = {}): () => string {
  const { now = Date.now, start = randomStart() } = options;
  let lastMs = -1;
  let counter = 0;
  // The digits of a millisecond are made once, not for each id in it.
  let millisecondDigits = "";

  const startMillisecond = (milliseconds: number): void => {
    lastMs = milliseconds;
    counter = start();
    millisecondDigits = milliseconds.toString(16).padStart(MILLISECOND_DIGITS, "0");
  };

  return () => {
    const milliseconds = now();
    if (milliseconds > lastMs) startMillisecond(milliseconds);
    else if (counter + 1 < COUNTER_END) counter += 1;
    else startMillisecond(lastMs + 1);
    return millisecondDigits + (COUNTER_END + counter).toString(16).slice(1);
  };
}

/** Draws many random numbers at once: asking the system for each costs more than the id itself. */
function randomStart(): () => number {
  const pool = new Uint32Array(256);
  let next = pool.length;
  return () => {
    if (next === pool.length) {
      randomFillSync(pool);
      next = 0;
    }
    const drawn = pool[next] ?? 0;
    next += 1;
    return drawn >>> (32 - COUNTER_BITS + 1);
  };
}

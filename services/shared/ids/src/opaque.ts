import { randomFillSync } from "node:crypto";

import { currentTime } from "@scrip/clock";

const COUNTER_BITS = 24;
const COUNTER_END = 2 ** COUNTER_BITS;
const MILLISECOND_DIGITS = 12;

export type OpaqueSourceOptions = {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** The first counter value of a millisecond: at least 0 and below half of the range. */
  readonly start: () => number;
};

/** How an id of this time begins, after its prefix: ids sort by it. */
export const timePart = (milliseconds: number): string =>
  milliseconds.toString(16).padStart(MILLISECOND_DIGITS, "0");

/**
 * Creates strings of 18 hex digits that sort by creation: 48 bits of milliseconds, then a 24-bit
 * counter. The counter starts at random in each millisecond, so that processes rarely collide, and
 * in the lower half, so that eight million ids fit. When the clock goes backwards, the last
 * millisecond continues: within a process the strings always grow.
 */
export function createOpaqueSource(options: Partial<OpaqueSourceOptions> = {}): () => string {
  const { now = currentTime, start = randomStart() } = options;
  let lastMs = -1;
  let counter = 0;
  // The digits of a millisecond are formatted once, not per id.
  let millisecondDigits = "";

  const startMillisecond = (milliseconds: number): void => {
    lastMs = milliseconds;
    counter = start();
    millisecondDigits = timePart(milliseconds);
  };

  return () => {
    const milliseconds = now();
    if (milliseconds > lastMs) startMillisecond(milliseconds);
    else if (counter + 1 < COUNTER_END) counter += 1;
    else startMillisecond(lastMs + 1);
    return millisecondDigits + (COUNTER_END + counter).toString(16).slice(1);
  };
}

/** Draws many random numbers at once: a system call per number costs more than the id itself. */
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

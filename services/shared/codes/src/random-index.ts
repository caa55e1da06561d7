import { randomFillSync, randomInt } from "node:crypto";

/** Returns a number from 0 to `size` - 1, each with the same probability. */
export type RandomIndex = (size: number) => number;

const BYTE = 256;
const POOL_BYTES = 16_384;

/**
 * Draws from bytes that `fill` provides in large portions, which costs a tenth of one call for each number. Bytes of the
 * last, incomplete multiple of `size` are skipped: using them would favour small numbers.
 */
export function createRandomIndex(fill: (bytes: Uint8Array) => void): RandomIndex {
  const pool = new Uint8Array(POOL_BYTES);
  let next = POOL_BYTES;
  return (size) => {
    if (size > BYTE) return randomInt(size);
    const limit = BYTE - (BYTE % size);
    for (;;) {
      if (next === POOL_BYTES) {
        fill(pool);
        next = 0;
      }
      const byte = pool[next] ?? BYTE;
      // Erased after use, so that codes cannot be reconstructed from memory.
      pool[next] = 0;
      next += 1;
      if (byte < limit) return byte % size;
    }
  };
}

/** Draws from the system's cryptographic random generator. */
export const randomIndex: RandomIndex = createRandomIndex((bytes) => {
  randomFillSync(bytes);
});

/** `count` of the items, each combination with the same probability; all of them if there are fewer. */
export function sampleOf<Item>(
  items: readonly Item[],
  count: number,
  random: RandomIndex,
): readonly Item[] {
  const pool = [...items];
  const taken = Math.min(count, pool.length);
  for (let index = 0; index < taken; index += 1) {
    const other = index + random(pool.length - index);
    [pool[index], pool[other]] = [pool[other] as Item, pool[index] as Item];
  }
  return pool.slice(0, taken);
}

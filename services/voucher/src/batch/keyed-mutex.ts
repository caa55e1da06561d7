/** A mutex per key, within this process: batches that share a row run one after the other. */
export type KeyedMutex = {
  /**
   * Waits until no other batch uses any of the keys, and returns the function that unlocks them. Undefined if other
   * batches locked one of the keys first each time.
   */
  readonly lock: (keys: readonly string[]) => Promise<(() => void) | undefined>;
};

const MAX_WAITS = 5;

export function createKeyedMutex(): KeyedMutex {
  const running = new Map<string, Promise<void>>();
  return {
    async lock(keys) {
      for (let waits = 0; waits <= MAX_WAITS; waits += 1) {
        const others = new Set(keys.flatMap((key) => running.get(key) ?? []));
        if (others.size === 0) {
          const { promise, resolve } = Promise.withResolvers<void>();
          for (const key of keys) running.set(key, promise);
          return () => {
            for (const key of keys) running.delete(key);
            resolve();
          };
        }
        await Promise.all(others);
      }
      return undefined;
    },
  };
}

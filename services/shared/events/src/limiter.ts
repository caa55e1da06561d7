/** Runs at most `slots` tasks concurrently; the others wait in the order of arrival. */
export function createLimiter(slots: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = slots;
  return async (task) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      // The slot is passed on directly, so that no later task can take it.
      else next();
    }
  };
}

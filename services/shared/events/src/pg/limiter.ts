/** Runs at most `slots` tasks at once; the others wait in the order they came. */
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
      // The slot passes on, so that nobody who comes now can slip in between.
      else next();
    }
  };
}

/** Gathers what would be told too often. */
export type LogThrottle<Item> = Disposable & { readonly add: (item: Item) => void };

const PERIOD_MS = 1_000;

/** Tells of the first one at once, and of those that follow once a second, by number and latest. */
export function createLogThrottle<Item>(
  tell: (count: number, latest: Item) => void,
): LogThrottle<Item> {
  let pending: { count: number; latest: Item } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    if (pending === undefined) return;
    const { count, latest } = pending;
    pending = undefined;
    tell(count, latest);
    timer = setTimeout(flush, PERIOD_MS).unref();
  };
  return {
    add(item) {
      pending = { count: (pending?.count ?? 0) + 1, latest: item };
      if (timer === undefined) flush();
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      flush();
      clearTimeout(timer);
    },
  };
}

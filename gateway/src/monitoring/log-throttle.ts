/** Limits how often the same problem is logged. */
export type LogThrottle<Item> = Disposable & { readonly add: (item: Item) => void };

const PERIOD_MS = 1_000;

/**
 * Logs the first item immediately and later ones once per second, with their count and the latest
 * item.
 */
export function createLogThrottle<Item>(
  log: (count: number, latest: Item) => void,
): LogThrottle<Item> {
  let pending: { count: number; latest: Item } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    if (pending === undefined) return;
    const { count, latest } = pending;
    pending = undefined;
    log(count, latest);
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

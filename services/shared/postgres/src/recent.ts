/** Remembers up to `maxEntries` values; those that were not used for long go first. */
export type Recent<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
};

/**
 * Two generations instead of an order of all entries: what is used while it is old becomes new again, and
 * when the new ones are half of all the old ones go. So reading what is used all the time moves nothing.
 */
export function createRecent<Value>(maxEntries: number): Recent<Value> {
  const most = Math.max(1, Math.ceil(maxEntries / 2));
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  const set = (key: string, value: Value): void => {
    if (young.size >= most && !young.has(key)) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  };
  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const aged = old.get(key);
      if (aged !== undefined) set(key, aged);
      return aged;
    },
    set,
  };
}

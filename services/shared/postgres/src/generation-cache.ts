/** Remembers up to `maxEntries` values of projects; those that were not used for long go first. */
export type GenerationCache<Value> = {
  readonly get: (projectId: string, key: string) => Value | undefined;
  readonly set: (projectId: string, key: string, value: Value) => void;
};

/** By project and key: names put together of both would have to be made and read for each question. */
type Generation<Value> = Map<string, Map<string, Value>>;

/**
 * Two generations instead of an order of all entries: what is used while it is old becomes new again, and
 * when the new ones are half of all the old ones go. So reading what is used all the time moves nothing.
 */
export function createGenerationCache<Value>(maxEntries: number): GenerationCache<Value> {
  const most = Math.max(1, Math.ceil(maxEntries / 2));
  let young: Generation<Value> = new Map();
  let old: Generation<Value> = new Map();
  let youngEntries = 0;
  const set = (projectId: string, key: string, value: Value): void => {
    const known = young.get(projectId);
    if (known?.has(key) === true) {
      known.set(key, value);
      return;
    }
    if (youngEntries >= most) {
      old = young;
      young = new Map();
      youngEntries = 0;
    }
    const entries = young.get(projectId);
    if (entries === undefined) young.set(projectId, new Map([[key, value]]));
    else entries.set(key, value);
    youngEntries += 1;
  };
  return {
    get(projectId, key) {
      const value = young.get(projectId)?.get(key);
      if (value !== undefined) return value;
      const aged = old.get(projectId)?.get(key);
      if (aged !== undefined) set(projectId, key, aged);
      return aged;
    },
    set,
  };
}

/**
 * Caches up to `maxEntries` values of projects; entries that were not used recently are dropped
 * first.
 */
export type GenerationCache<Value> = {
  readonly get: (projectId: string, key: string) => Value | undefined;
  readonly set: (projectId: string, key: string, value: Value) => void;
};

/** By project and key: a combined key would have to be built for each lookup. */
type Generation<Value> = Map<string, Map<string, Value>>;

/**
 * Two generations instead of an order of all entries: a lookup in the old one promotes the entry,
 * and when the young one holds half of the maximum, the old one is dropped. Lookups of hot entries
 * move nothing.
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

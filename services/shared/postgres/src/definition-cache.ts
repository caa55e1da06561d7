import { createBatcher } from "@scrip/batching";

import type { DefinitionVersions } from "./definition-versions.ts";
import { createGenerationCache } from "./generation-cache.ts";

/**
 * Remembers definitions (rules, campaigns, tiers, settings) in the process; never balances or counts
 * (design/architecture.md §4.5). What is not there is remembered too.
 *
 *     const versions = createDefinitionVersions({ db });                    // one per service
 *     const tiers = createDefinitionCache<Tier>({
 *       versions,
 *       maxEntries: 10_000,
 *       load: async (keys) => { … one statement, `undefined` where there is none, in order … },
 *     });
 *     await tiers.getMany(projectId, ids);                                  // a map of those that exist
 *     await versions.write(projectId, (tx) => updateTier(tx, tier));        // every write of definitions
 *
 * A write through this process shows to whoever reads after it; another process sees it within a
 * second. Any write to a project drops all that is remembered of the project, so writes of what is
 * not a definition must stay out of `write`.
 */
export type DefinitionCache<Value> = {
  /** At once where it is remembered: a request asks for a dozen definitions. */
  get(projectId: string, key: string): Value | undefined | Promise<Value | undefined>;
  /** Keys without a definition are not in the map. */
  getMany(projectId: string, keys: readonly string[]): Promise<ReadonlyMap<string, Value>>;
};

export type DefinitionKey = { readonly projectId: string; readonly key: string };

export type DefinitionCacheOptions<Value> = {
  readonly versions: DefinitionVersions;
  /**
   * Reads many definitions, of any projects, in one statement; answers in the order of the keys. It
   * must read from the database of the writes, after it is called: a replica may be behind.
   */
  readonly load: (keys: readonly DefinitionKey[]) => Promise<readonly (Value | undefined)[]>;
  /** Beyond so many, entries that were not used for long are dropped. */
  readonly maxEntries: number;
};

/** A load that is slow does not hold up the others. */
const LANES = 2;
const MAX_BATCH = 1_000;

/**
 * What a load that began in an epoch found. A write that commits while a load is under way begins
 * another epoch, and so what the load found, which may be from before the write, never serves those
 * who ask after it.
 */
type OfEpoch<T> = { readonly epoch: number; readonly value: T };

export function createDefinitionCache<Value>(
  options: DefinitionCacheOptions<Value>,
): DefinitionCache<Value> {
  const { versions, load, maxEntries } = options;
  const entries = createGenerationCache<OfEpoch<Value | undefined>>(maxEntries);
  const flights = new Map<string, OfEpoch<Promise<Value | undefined>>>();
  const ask = createBatcher({ lanes: LANES, maxBatch: MAX_BATCH, send: load });

  const remember = (at: DefinitionKey, found: OfEpoch<Value | undefined>): void => {
    if ((entries.get(at.projectId, at.key)?.epoch ?? 0) > found.epoch) return;
    entries.set(at.projectId, at.key, found);
  };

  const loaded = (at: DefinitionKey, epoch: number): Promise<Value | undefined> => {
    const name = `${at.projectId}\n${at.key}`;
    const flight = flights.get(name);
    if (flight?.epoch === epoch) return flight.value;
    const started = { epoch, value: ask(at) };
    flights.set(name, started);
    return started.value
      .then((value) => {
        remember(at, { epoch, value });
        return value;
      })
      .finally(() => {
        if (flights.get(name) === started) flights.delete(name);
      });
  };

  const getManyAt = async (
    known: number | Promise<number>,
    projectId: string,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, Value>> => {
    const epoch = typeof known === "number" ? known : await known;
    const values = new Map<string, Value>();
    const missing: string[] = [];
    for (const key of keys) {
      const entry = entries.get(projectId, key);
      if (entry?.epoch !== epoch) missing.push(key);
      else if (entry.value !== undefined) values.set(key, entry.value);
    }
    if (missing.length === 0) return values;
    const found = await Promise.all(missing.map((key) => loaded({ projectId, key }, epoch)));
    for (const [index, value] of found.entries()) {
      if (value !== undefined) values.set(missing[index] as string, value);
    }
    return values;
  };

  return {
    async getMany(projectId, keys) {
      if (keys.length === 0) return new Map();
      return getManyAt(versions.epochOf(projectId), projectId, keys);
    },
    get(projectId, key) {
      const epoch = versions.epochOf(projectId);
      const entry = entries.get(projectId, key);
      if (entry !== undefined && entry.epoch === epoch) return entry.value;
      return getManyAt(epoch, projectId, [key]).then((found) => found.get(key));
    },
  };
}

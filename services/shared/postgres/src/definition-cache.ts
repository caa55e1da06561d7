import { createBatcher } from "@scrip/batching";

import type { DefinitionVersions } from "./definition-versions.ts";
import { createGenerationCache } from "./generation-cache.ts";

/**
 * Caches definitions (rules, campaigns, tiers, settings) in the process; never balances or counts
 * (services/decisions/0012-cached-definitions.md). Absent definitions are cached too.
 *
 *     const versions = createDefinitionVersions({ db });                    // one per service
 *     const tiers = createDefinitionCache<Tier>({
 *       versions,
 *       maxEntries: 10_000,
 *       load: async (keys) => { … one statement, `undefined` for absent ones, in order … },
 *     });
 *     await tiers.getMany(projectId, ids);                                  // a map of existing ones
 *     await versions.write(projectId, (tx) => updateTier(tx, tier));        // every write of definitions
 *
 * A write through this process is visible to every later read; in other processes within a second.
 * A write invalidates all cached definitions of its project, so other writes must stay out of `write`.
 */
export type DefinitionCache<Value> = {
  /** Synchronous when cached: a request reads a dozen definitions. */
  get(projectId: string, key: string): Value | undefined | Promise<Value | undefined>;
  /** Keys without a definition are absent from the map. */
  getMany(projectId: string, keys: readonly string[]): Promise<ReadonlyMap<string, Value>>;
};

/** A stored definition that this program cannot read, for example one of a later release. */
export class UnreadableDefinition extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnreadableDefinition";
  }
}

export type DefinitionKey = { readonly projectId: string; readonly key: string };

export type DefinitionCacheOptions<Value> = {
  readonly versions: DefinitionVersions;
  /**
   * Reads many definitions, of any projects, in one statement; returns them in the order of the
   * keys. It must read the primary database after it is called: a replica may be behind. An unreadable definition fails
   * the reads of its key only; it is not cached.
   */
  readonly load: (
    keys: readonly DefinitionKey[],
  ) => Promise<readonly (Value | UnreadableDefinition | undefined)[]>;
  /** Beyond this number, entries that were not used recently are dropped. */
  readonly maxEntries: number;
};

/** A slow load does not delay the others. */
const LANES = 2;
const MAX_BATCH = 1_000;

/**
 * The result of a load with the epoch in which it began. A write that commits during a load starts
 * a new epoch, so the result, which may predate the write, never serves later reads.
 */
type OfEpoch<T> = { readonly epoch: number; readonly value: T };

function readable<Value>(loaded: Value | UnreadableDefinition): Value {
  if (loaded instanceof UnreadableDefinition) throw loaded;
  return loaded;
}

export function createDefinitionCache<Value>(
  options: DefinitionCacheOptions<Value>,
): DefinitionCache<Value> {
  const { versions, load, maxEntries } = options;
  const entries = createGenerationCache<OfEpoch<Value | undefined>>(maxEntries);
  const flights = new Map<string, OfEpoch<Promise<Value | undefined>>>();
  const loadOne = createBatcher({ lanes: LANES, maxBatch: MAX_BATCH, send: load });

  const store = (at: DefinitionKey, found: OfEpoch<Value | undefined>): void => {
    if ((entries.get(at.projectId, at.key)?.epoch ?? 0) > found.epoch) return;
    entries.set(at.projectId, at.key, found);
  };

  const loaded = (at: DefinitionKey, epoch: number): Promise<Value | undefined> => {
    const name = `${at.projectId}\n${at.key}`;
    const flight = flights.get(name);
    if (flight?.epoch === epoch) return flight.value;
    const started = { epoch, value: loadOne(at).then(readable) };
    flights.set(name, started);
    return started.value
      .then((value) => {
        store(at, { epoch, value });
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

import type { Queryable } from "@scrip/postgres";
import { LRUCache } from "lru-cache";

import { createCredentialLookups, type LookupLane } from "./credential-lookups.ts";
import { type Principal, toPrincipal } from "./principal.ts";
import { fingerprint } from "./secrets.ts";

/**
 * Principals by key and token, cached for CACHE_MS. A change through this process takes effect
 * immediately; another replica may accept a revoked token for up to CACHE_MS, unless Redis notifies it immediately
 * (shared-evictions.ts).
 */
export type CredentialCache = {
  /** Undefined when the pair of key and token is not cached. The token may have ended. */
  cached(keyId: string, token: string, now: number): Principal | undefined;
  /** Loads key and token; undefined when they do not belong together. The token may have ended. */
  load(keyId: string, token: string, lane: LookupLane): Promise<Principal | undefined>;
  loadKey(keyId: string, lane: LookupLane): Promise<Principal | undefined>;
  /** Evictions resolve when the listeners have finished; they never reject. */
  evictToken(tokenHash: Uint8Array): Promise<void>;
  evictKey(keyId: string): Promise<void>;
  evictProject(projectId: string): Promise<void>;
  /** Called with each eviction above; must not reject. */
  onEviction(listener: (eviction: Eviction) => Promise<void>): void;
  /** Repeats an eviction of another replica. */
  apply(eviction: Eviction): void;
};

export type Eviction = { readonly kind: "token" | "key" | "project"; readonly name: string };

export function createCredentialCache(db: Queryable, clock: () => number): CredentialCache {
  const memory = createPrincipalCache(clock);
  const lookups = createCredentialLookups(db);
  const listeners: ((eviction: Eviction) => Promise<void>)[] = [];
  const apply = ({ kind, name }: Eviction): void => {
    if (kind === "token") memory.evict(`token ${name}`);
    else if (kind === "project") memory.evictWhere(({ project }) => project.id === name);
    else memory.evictWhere(({ keyId, tokenKeyId }) => keyId === name || tokenKeyId === name);
  };
  const evict = async (eviction: Eviction): Promise<void> => {
    apply(eviction);
    await Promise.all(listeners.map((listener) => listener(eviction)));
  };
  return {
    cached(keyId, token, now) {
      const principal = memory.get(`token ${fingerprint(token)}`, now);
      return principal?.keyId === keyId ? principal : undefined;
    },
    load(keyId, token, lane) {
      const print = fingerprint(token);
      return memory.load(`token ${print}`, keyId, async () => {
        const tokenHash = Buffer.from(print, "base64");
        const found = await lookups[lane].credentials({ keyId, tokenHash });
        return found && toPrincipal(found);
      });
    },
    async loadKey(keyId, lane) {
      const entry = `key ${keyId}`;
      const known = memory.get(entry, clock());
      if (known !== undefined) return known;
      return memory.load(entry, keyId, async () => {
        const found = await lookups[lane].key(keyId);
        return found && toPrincipal(found);
      });
    },
    evictToken: (hash) => evict({ kind: "token", name: Buffer.from(hash).toString("base64") }),
    evictKey: (keyId) => evict({ kind: "key", name: keyId }),
    evictProject: (projectId) => evict({ kind: "project", name: projectId }),
    onEviction: (listener) => void listeners.push(listener),
    apply,
  };
}

const CACHE_MS = 5_000;
/** Long enough to spare the database from repeated misses, short enough for a new token. */
const MISS_CACHE_MS = 1_000;
const MAX_ENTRIES = 50_000;
const MAX_MISSES = 10_000;

type CacheEntry = { readonly principal: Principal; readonly until: number };
type Find = () => Promise<Principal | undefined>;

/**
 * Caches hits and, for a shorter time, misses; concurrent lookups of the same entry share one
 * query.
 */
function createPrincipalCache(clock: () => number) {
  const entries = new LRUCache<string, CacheEntry>({ max: MAX_ENTRIES });
  const misses = new LRUCache<string, number>({ max: MAX_MISSES });
  const loading = new Map<string, Promise<Principal | undefined>>();
  // Counts evictions: a lookup that started before one must not cache its result.
  let evictions = 0;

  const find = async (entry: string, name: string, query: Find): Promise<Principal | undefined> => {
    const before = evictions;
    const principal = await query();
    if (principal === undefined) misses.set(name, clock() + MISS_CACHE_MS);
    else if (before === evictions) {
      const until = principal.hasEnded
        ? clock() + MISS_CACHE_MS
        : Math.min(clock() + CACHE_MS, principal.expiresAt);
      entries.set(entry, { principal, until });
    }
    return principal;
  };
  const startOver = (): void => {
    evictions += 1;
    loading.clear();
  };

  return {
    get(entry: string, now: number): Principal | undefined {
      const cached = entries.get(entry);
      return cached !== undefined && cached.until > now ? cached.principal : undefined;
    },
    /** A token may be presented with several keys, so the key is part of the name. */
    load(entry: string, keyId: string, query: Find): Promise<Principal | undefined> {
      const name = `${keyId} ${entry}`;
      if ((misses.get(name) ?? 0) > clock()) return MISSING;
      const underway = loading.get(name);
      if (underway !== undefined) return underway;
      const started = find(entry, name, query).finally(() => loading.delete(name));
      loading.set(name, started);
      return started;
    },
    evict(entry: string): void {
      startOver();
      entries.delete(entry);
    },
    evictWhere(matches: (principal: Principal) => boolean): void {
      startOver();
      for (const [entry, { principal }] of entries.entries()) {
        if (matches(principal)) entries.delete(entry);
      }
    },
  };
}

const MISSING = Promise.resolve(undefined);

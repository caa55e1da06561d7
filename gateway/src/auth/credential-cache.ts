import type { Queryable } from "@scrip/postgres";
import type { Metrics } from "@scrip/telemetry";
import { LRUCache } from "lru-cache";

import { createCredentialLookups, type LookupLane } from "./credential-lookups.ts";
import type { Eviction } from "./eviction.ts";
import { type Principal, toPrincipal } from "./principal.ts";
import { fingerprint } from "./secrets.ts";
import type { PresentedPair, SharedCredentials } from "./shared-credentials.ts";

/**
 * Principals by key and token, cached for CACHE_MS from the start of the lookup, whichever replica looked them up. A
 * change through this process takes effect immediately; another replica may accept a revoked token for up to CACHE_MS,
 * unless Redis notifies it immediately (shared-evictions.ts).
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
  /** Uses what other replicas have looked up, from now on. */
  shareThrough(shared: SharedCredentials): void;
  /** Called with each eviction above; must not reject. */
  onEviction(listener: (eviction: Eviction) => Promise<void>): void;
  /** Repeats an eviction of another replica. */
  apply(eviction: Eviction): void;
};

export function createCredentialCache(
  db: Queryable,
  clock: () => number,
  metrics?: Metrics,
): CredentialCache {
  const memory = createPrincipalCache(clock);
  const lookups = createCredentialLookups(db);
  const listeners: ((eviction: Eviction) => Promise<void>)[] = [];
  let shared: SharedCredentials | undefined;
  const lookUp = createTokenLookup({ lookups, clock, metrics, shared: () => shared });
  const apply = (eviction: Eviction): void => {
    const { kind, name } = eviction;
    shared?.note(eviction);
    if (kind === "token") memory.evict(`token ${name}`);
    else if (kind === "project") memory.evictWhere(({ project }) => project.id === name);
    else memory.evictWhere(({ keyId, tokenKeyId }) => keyId === name || tokenKeyId === name);
  };
  const evict = async (eviction: Eviction): Promise<void> => {
    apply(eviction);
    // Sent over one connection in this order, so that a replica that receives the message finds the mark.
    await Promise.all([
      shared?.evict(eviction),
      ...listeners.map((listener) => listener(eviction)),
    ]);
    // Lookups may have found the shared entry until now.
    if (shared !== undefined) apply(eviction);
  };
  return {
    cached(keyId, token, now) {
      const principal = memory.get(`token ${fingerprint(token)}`, now);
      return principal?.keyId === keyId ? principal : undefined;
    },
    load(keyId, token, lane) {
      const tokenPrint = fingerprint(token);
      return memory.load(`token ${tokenPrint}`, keyId, () => lookUp({ keyId, tokenPrint }, lane));
    },
    async loadKey(keyId, lane) {
      const entry = `key ${keyId}`;
      const known = memory.get(entry, clock());
      if (known !== undefined) return known;
      return memory.load(entry, keyId, async () => {
        const until = clock() + CACHE_MS;
        const found = await lookups[lane].key(keyId);
        return found && { principal: toPrincipal(found), until };
      });
    },
    evictToken: (hash) => evict({ kind: "token", name: Buffer.from(hash).toString("base64") }),
    evictKey: (keyId) => evict({ kind: "key", name: keyId }),
    evictProject: (projectId) => evict({ kind: "project", name: projectId }),
    shareThrough: (other) => void (shared = other),
    onEviction: (listener) => void listeners.push(listener),
    apply,
  };
}

type TokenLookupOptions = {
  readonly lookups: ReturnType<typeof createCredentialLookups>;
  readonly clock: () => number;
  readonly metrics: Metrics | undefined;
  readonly shared: () => SharedCredentials | undefined;
};

/** Looks in Redis first, and stores there what it read from PostgreSQL. */
function createTokenLookup({ lookups, clock, metrics, shared }: TokenLookupOptions) {
  const count = countLookups(metrics);
  return async (pair: PresentedPair, lane: LookupLane): Promise<Cacheable | undefined> => {
    const known = await shared()?.find(pair);
    if (known !== undefined) {
      count("redis");
      return { principal: toPrincipal(known.source), until: known.until };
    }
    count("database");
    const until = clock() + CACHE_MS;
    const tokenHash = Buffer.from(pair.tokenPrint, "base64");
    const source = await lookups[lane].credentials({ keyId: pair.keyId, tokenHash });
    if (source === undefined) return undefined;
    if (!source.token.hasEnded) shared()?.store(pair, { source, until });
    return { principal: toPrincipal(source), until };
  };
}

function countLookups(metrics: Metrics | undefined): (source: "redis" | "database") => void {
  const lookups = metrics?.counter({
    name: "token_lookups_total",
    help: "Access tokens that were not in the memory of the process, by where they were looked up",
    labels: ["source"],
  });
  return (source) => lookups?.inc({ source });
}

const CACHE_MS = 5_000;
/** Long enough to spare the database from repeated misses, short enough for a new token. */
const MISS_CACHE_MS = 1_000;
const MAX_ENTRIES = 50_000;
const MAX_MISSES = 10_000;

type Cacheable = { readonly principal: Principal; readonly until: number };
type Find = () => Promise<Cacheable | undefined>;

/**
 * Caches hits and, for a shorter time, misses; concurrent lookups of the same entry share one
 * query.
 */
function createPrincipalCache(clock: () => number) {
  const entries = new LRUCache<string, Cacheable>({ max: MAX_ENTRIES });
  const misses = new LRUCache<string, number>({ max: MAX_MISSES });
  const loading = new Map<string, Promise<Principal | undefined>>();
  // Counts evictions: a lookup that started before one must not cache its result.
  let evictions = 0;

  const find = async (entry: string, name: string, query: Find): Promise<Principal | undefined> => {
    const before = evictions;
    const found = await query();
    if (found === undefined) misses.set(name, clock() + MISS_CACHE_MS);
    else if (before === evictions) {
      const { principal } = found;
      const until = principal.hasEnded
        ? clock() + MISS_CACHE_MS
        : Math.min(found.until, clock() + CACHE_MS, principal.expiresAt);
      entries.set(entry, { principal, until });
    }
    return found?.principal;
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

import type { Queryable } from "@scrip/postgres";
import { LRUCache } from "lru-cache";

import { findCredentials, findKey } from "../store/credentials.ts";
import { toPrincipal, type Principal } from "./principal.ts";
import { fingerprint } from "./secret.ts";

/**
 * Who stands behind credentials, remembered for a few seconds. A change made by this process shows
 * at once; one made by another replica within MEMORY_MS, which is how long a revoked token may live
 * on there.
 */
export type Directory = {
  /** A remembered pair of key and token; undefined only means not remembered. */
  recall(keyId: string, token: string, now: number): Principal | undefined;
  /** The key and token as the database has them, or undefined when they open nothing together. */
  look(keyId: string, token: string): Promise<Principal | undefined>;
  lookKey(keyId: string): Promise<Principal | undefined>;
  forgetToken(tokenHash: Uint8Array): void;
  forgetKey(keyId: string): void;
  forgetProject(projectId: string): void;
};

const MEMORY_MS = 5_000;
/** How long a miss is remembered: long enough to spare the database, short for a new token. */
const MISS_MEMORY_MS = 1_000;
const MAX_REMEMBERED = 50_000;
const MAX_MISSES = 10_000;

type Remembered = { readonly principal: Principal; readonly until: number };

export function createDirectory(db: Queryable, clock: () => number): Directory {
  const tokens = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED });
  const keys = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED });
  const misses = new LRUCache<string, number>({ max: MAX_MISSES });
  const loading = new Map<string, Promise<Principal | undefined>>();
  // Counts what was forgotten, so that a look-up that began before cannot bring it back.
  let forgotten = 0;

  const load = (
    cache: LRUCache<string, Remembered>,
    id: { readonly name: string; readonly entry: string },
    find: () => Promise<Principal | undefined>,
  ): Promise<Principal | undefined> => {
    const now = clock();
    if ((misses.get(id.name) ?? 0) > now) return NOBODY;
    const underway = loading.get(id.name);
    if (underway !== undefined) return underway;
    const before = forgotten;
    const started = find()
      .then((principal) => {
        if (principal === undefined) misses.set(id.name, clock() + MISS_MEMORY_MS);
        else if (before === forgotten) {
          const until = Math.min(clock() + MEMORY_MS, principal.expiresAt);
          cache.set(id.entry, { principal, until });
        }
        return principal;
      })
      .finally(() => loading.delete(id.name));
    loading.set(id.name, started);
    return started;
  };

  const forgetWhere = (gone: (principal: Principal) => boolean): void => {
    forgotten += 1;
    loading.clear();
    for (const cache of [tokens, keys]) {
      for (const [entry, { principal }] of cache.entries())
        if (gone(principal)) cache.delete(entry);
    }
  };

  return {
    recall(keyId, token, now) {
      const remembered = tokens.get(fingerprint(token));
      if (remembered === undefined || remembered.until <= now) return undefined;
      return remembered.principal.keyId === keyId ? remembered.principal : undefined;
    },
    look(keyId, token) {
      const entry = fingerprint(token);
      return load(tokens, { name: `${keyId}\n${entry}`, entry }, async () => {
        const found = await findCredentials(db, keyId, Buffer.from(entry, "base64"));
        return found && toPrincipal(found);
      });
    },
    lookKey(keyId) {
      const remembered = keys.get(keyId);
      if (remembered !== undefined && remembered.until > clock()) {
        return Promise.resolve(remembered.principal);
      }
      return load(keys, { name: keyId, entry: keyId }, async () => {
        const found = await findKey(db, keyId);
        return found && toPrincipal(found);
      });
    },
    forgetToken(tokenHash) {
      forgotten += 1;
      loading.clear();
      tokens.delete(Buffer.from(tokenHash).toString("base64"));
    },
    forgetKey: (keyId) =>
      forgetWhere((principal) => principal.keyId === keyId || principal.tokenKeyId === keyId),
    forgetProject: (projectId) => forgetWhere((principal) => principal.project.id === projectId),
  };
}

const NOBODY = Promise.resolve(undefined);

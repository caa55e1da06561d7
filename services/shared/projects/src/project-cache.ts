import { createBatcher } from "@scrip/batching";
import type { Database } from "@scrip/postgres";
import type { ProjectState } from "@scrip/rpc";

import { findProjects } from "./store.ts";

/** A project as the service's table had it. */
export type CacheEntry = {
  readonly projectId: string;
  state: ProjectState | undefined;
  /** When the last completed load was sent; the state is at most that old. */
  loadedAt: number;
  loading: Promise<void> | undefined;
  /** When a call last waited in vain for the project. */
  waitedAt: number;
};

export type ProjectCache = {
  /** The project as of at most a second ago. Synchronous when cached. */
  readonly get: (projectId: string) => CacheEntry | Promise<CacheEntry>;
  readonly reload: (entry: CacheEntry) => Promise<void>;
  /** The next read of the project loads it. */
  readonly evict: (projectId: string) => void;
};

/** From this age, an entry is loaded in the background while the cached one serves. */
const CHECK_AFTER_MS = 500;

/** From this age, an entry no longer serves. */
const MAX_AGE_MS = 1_000;

/** Beyond this number, the project whose load is oldest is dropped. */
const MAX_PROJECTS = 10_000;

const MAX_BATCH = 1_000;

/** Caches rows of the service's table `project`, missing ones included. */
export function createProjectCache(db: Database, now: () => number): ProjectCache {
  const entries = new Map<string, CacheEntry>();
  const loadState = createBatcher({
    lanes: 2,
    maxBatch: MAX_BATCH,
    send: async (ids: readonly string[]) => {
      const sentAt = now();
      const found = await findProjects(db, ids);
      return ids.map((id) => ({ sentAt, state: found.get(id) }));
    },
  });

  const reload = (entry: CacheEntry): Promise<void> =>
    (entry.loading ??= loadState(entry.projectId)
      .then(({ sentAt, state }) => {
        entry.state = state;
        entry.loadedAt = sentAt;
        return undefined;
      })
      .finally(() => (entry.loading = undefined)));

  const reloaded = async (entry: CacheEntry): Promise<CacheEntry> => {
    const oldest = now() - MAX_AGE_MS;
    await reload(entry);
    // Loads again if the running load began earlier: it may not show later commits.
    if (entry.loadedAt <= oldest) await reload(entry);
    return entry;
  };

  /** Moves an entry to the end: the first of the map is the one whose load is oldest. */
  const touch = (projectId: string): CacheEntry => {
    const entry = entries.get(projectId) ?? newEntry(projectId);
    entries.delete(projectId);
    entries.set(projectId, entry);
    if (entries.size > MAX_PROJECTS) entries.delete(entries.keys().next().value ?? "");
    return entry;
  };

  return {
    get(projectId) {
      const known = entries.get(projectId);
      if (known !== undefined && now() - known.loadedAt < CHECK_AFTER_MS) return known;
      const entry = touch(projectId);
      if (now() - entry.loadedAt >= MAX_AGE_MS) return reloaded(entry);
      // The failure is reported when the entry becomes too old to serve.
      reload(entry).catch(() => {});
      return entry;
    },
    reload,
    evict(projectId) {
      const entry = entries.get(projectId);
      if (entry !== undefined) entry.loadedAt = -Infinity;
    },
  };
}

const newEntry = (projectId: string): CacheEntry => ({
  projectId,
  state: undefined,
  loadedAt: -Infinity,
  loading: undefined,
  waitedAt: -Infinity,
});

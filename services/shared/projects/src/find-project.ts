import { setTimeout as sleep } from "node:timers/promises";

import { currentTime } from "@scrip/clock";
import type { FindProject, ProjectQuery, ProjectState } from "@scrip/rpc";

import type { CacheEntry, ProjectCache } from "./project-cache.ts";

/**
 * How long a call waits for a project or version whose event has not arrived. When another replica of the gateway
 * publishes, it finds the event within a second, and a busy broker takes its time.
 */
const WAIT_MS = 5_000;
const PAUSE_MS = 25;
/** Later pauses are this part of the time waited. */
const PAUSES = 10;

/**
 * After a call has waited without success, further calls do not wait for this time, so that an unknown id or a late
 * event costs one wait per period.
 */
const NO_WAIT_MS = 10_000;

/** What remains of a deadline when a wait ends, so that the caller receives the error. */
const MARGIN_MS = 100;

export type FindProjectOptions = {
  readonly cache: ProjectCache;
  /** Asks for events that have not arrived. */
  readonly poll: () => void;
  /** Called once for all calls that have waited in vain for the same project. */
  readonly onLate: (query: ProjectQuery) => void;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
};

/** Reads projects from the cache, and waits for those whose event is on the way. */
export function createFindProject({ cache, poll, onLate, now }: FindProjectOptions): FindProject {
  const awaitArrival = async (
    query: ProjectQuery,
    found: CacheEntry | Promise<CacheEntry>,
  ): Promise<ProjectState | undefined> => {
    const entry = await found;
    if (hasArrived(entry, query) || now() - entry.waitedAt < NO_WAIT_MS) return entry.state;
    poll();
    const since = now();
    const until = since + Math.min(WAIT_MS, query.deadline - currentTime() - MARGIN_MS);
    while (now() < until) {
      const pauseMs = Math.min(Math.max(PAUSE_MS, (now() - since) / PAUSES), until - now());
      await sleep(pauseMs);
      // All waiting calls share one query per pause, although their timers drift apart.
      if (now() - entry.loadedAt >= Math.max(PAUSE_MS, pauseMs)) await cache.reload(entry);
      if (hasArrived(entry, query)) return entry.state;
    }
    if (until > since && now() - entry.waitedAt >= NO_WAIT_MS) onLate(query);
    entry.waitedAt = now();
    return entry.state;
  };

  return (query) => {
    const found = cache.get(query.projectId);
    if (!(found instanceof Promise) && hasArrived(found, query)) return found.state;
    return awaitArrival(query, found);
  };
}

/** An older version is not the one that the caller has seen. */
const hasArrived = ({ state }: CacheEntry, { version }: ProjectQuery): boolean =>
  state !== undefined && (version === undefined || (state.project.version ?? 0n) >= version);

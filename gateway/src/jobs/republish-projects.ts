import type { Database } from "@scrip/postgres";
import { startBatchJob } from "@scrip/rpc";

import { publishProjects } from "../projects/publish-projects.ts";
import { lockUnpublished } from "../store/projects.ts";

/** Well below the retention of events: a new or restored service finds every project among them. */
const REPUBLISH_AFTER_HOURS = 24;
/** Small, so that locks are short. */
const CHUNK = 500;
const EVERY_MS = 60_000;

/**
 * Publishes projects that never were, as those of earlier releases, and each project again once a
 * day, until disposed. Safe to run in several processes.
 */
export const startRepublishing = (
  db: Database,
  {
    onEvents,
    onError,
  }: { readonly onEvents: () => void; readonly onError: (error: Error) => void },
): AsyncDisposable =>
  startBatchJob({
    everyMs: EVERY_MS,
    async batch() {
      const published = await db.transaction(async (tx) => {
        const projects = await lockUnpublished(tx, REPUBLISH_AFTER_HOURS, CHUNK);
        if (projects.length > 0) await publishProjects(tx, projects);
        return projects.length;
      });
      if (published > 0) onEvents();
      return published === CHUNK;
    },
    onError,
  });

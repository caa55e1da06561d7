import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { deleteReadFiles } from "../store/import-files.ts";
import { deleteExpiredReports } from "../store/job-reports.ts";

const EVERY_MS = 60_000;

/** Deletes the rows of imported files and abandoned uploads, and the reports of jobs after a day, until disposed. */
export const startCleanup = (db: Database, onError: (error: Error) => void): AsyncDisposable =>
  startPeriodicJob({
    everyMs: EVERY_MS,
    work: async () => {
      await deleteReadFiles(db);
      await deleteExpiredReports(db);
    },
    onError,
  });

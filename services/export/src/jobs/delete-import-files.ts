import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { deleteReadFiles } from "../store/import-files.ts";
import { deleteExpiredReports } from "../store/job-reports.ts";

const EVERY_MS = 60_000;

/** Deletes files whose imports have ended, abandoned uploads, and reports after a day, until disposed. */
export const startImportFileCleanup = (
  db: Database,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startPeriodicJob({
    everyMs: EVERY_MS,
    work: async () => {
      await deleteReadFiles(db);
      await deleteExpiredReports(db);
    },
    onError,
  });

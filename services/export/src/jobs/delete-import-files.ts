import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { deleteReadFiles } from "../store/import-files.ts";

const EVERY_MS = 60_000;

/** Deletes files whose imports have ended, and abandoned uploads, until disposed. */
export const startImportFileCleanup = (
  db: Database,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startPeriodicJob({ everyMs: EVERY_MS, work: () => deleteReadFiles(db), onError });

import { startBatchJob } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { forgetExpiredFiles } from "../store/exports.ts";

const EVERY_MS = 10 * 60_000;
const CHUNK = 100;

/** Deletes expired files of exports, and what interrupted exports left, until disposed. */
export const startFileExpiry = (
  { db, files }: Pick<Deps, "db" | "files">,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startBatchJob({
    everyMs: EVERY_MS,
    async batch() {
      const keys = await forgetExpiredFiles(db, CHUNK);
      for (const key of keys) await files.remove(key);
      if (keys.length === CHUNK) return true;
      await files.removeAbandoned();
      return false;
    },
    onError,
  });

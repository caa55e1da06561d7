import { access } from "node:fs/promises";
import path from "node:path";

import { findEmbeddedPostgres, startEmbeddedPostgres } from "@scrip/embedded-postgres";

import { usageError } from "./cli-error.ts";
import type { Settings } from "./settings.ts";

export type OpenDatabase = AsyncDisposable & { readonly url: string };

/**
 * Connects to DATABASE_URL, or else to the embedded Postgres of the data folder: the one of the
 * running standalone process, or one that is started for the command and stopped after it.
 */
export async function openDatabase(settings: Settings): Promise<OpenDatabase> {
  const url = settings.read("DATABASE_URL");
  if (url !== undefined) return external(url);
  const { dataDir } = settings;
  // Otherwise a mistyped folder would be created, with an empty database in it.
  await access(path.join(dataDir, "postgres")).catch(() => {
    throw usageError(
      `no database found: set DATABASE_URL, or SCRIP_DATA_DIR to the data folder of a standalone ` +
        `installation (${dataDir} contains no database)`,
    );
  });
  const running = await findEmbeddedPostgres(dataDir);
  return running === undefined ? startEmbeddedPostgres({ dataDir }) : external(running);
}

const external = (url: string): OpenDatabase => ({
  url,
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

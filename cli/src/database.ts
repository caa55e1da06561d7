import { access } from "node:fs/promises";
import path from "node:path";

import { findEmbeddedPostgres, startEmbeddedPostgres } from "@scrip/embedded-postgres";

import { usageError } from "./cli-error.ts";
import type { Settings } from "./settings.ts";

export type OpenDatabases = AsyncDisposable & {
  /** The database with the schema of a service, or with that of the event log. */
  readonly urlOf: (schema: string) => string;
};

/**
 * Where the schemas are: SCRIP_<SCHEMA>_DATABASE_URL, or else the database of all others: DATABASE_URL, or the embedded
 * Postgres of the data folder.
 */
export async function openDatabases(
  settings: Settings,
  schemas: readonly string[],
): Promise<OpenDatabases> {
  const own = new Map(
    schemas.map((schema) => [schema, settings.read(`SCRIP_${schema.toUpperCase()}_DATABASE_URL`)]),
  );
  const isShared = schemas.some((schema) => own.get(schema) === undefined);
  const shared = isShared ? await openShared(settings) : undefined;
  return {
    urlOf(schema) {
      const url = own.get(schema) ?? shared?.url;
      if (url === undefined) throw new Error(`the database of ${schema} is not open`);
      return url;
    },
    [Symbol.asyncDispose]: async () => shared?.[Symbol.asyncDispose](),
  };
}

type OpenDatabase = AsyncDisposable & { readonly url: string };

/** The embedded Postgres is that of the running standalone process, or is started for the command and stopped after it. */
async function openShared(settings: Settings): Promise<OpenDatabase> {
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

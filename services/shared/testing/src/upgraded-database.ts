import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { createDatabase, type Database, migrate } from "@scrip/postgres";

import { emptyDatabase } from "./database.ts";

export type UpgradedDatabase = AsyncDisposable & {
  readonly url: string;
  /** A pool of its own, as another process has: one opened before the upgrade belongs to the earlier release. */
  readonly open: () => Database;
  /** Applies all migrations. */
  readonly upgrade: () => Promise<void>;
};

export type UpgradedDatabaseOptions = {
  readonly schema: string;
  readonly role: string;
  readonly folder: string;
  /** Number of the first migration that the earlier release does not have, such as "0013". */
  readonly before: string;
};

/** Two transactions at once, and the connection that transactions leave to others. */
const POOL_SIZE = 3;

/** The database of a service as an earlier release left it. */
export async function upgradedDatabase({
  schema,
  role,
  folder,
  before,
}: UpgradedDatabaseOptions): Promise<UpgradedDatabase> {
  await using parts = new AsyncDisposableStack();
  const { url } = parts.use(await emptyDatabase());
  const service = { url, schema, role };
  const earlier = await mkdtemp(path.join(tmpdir(), `scrip-${schema}-`));
  parts.defer(() => rm(earlier, { recursive: true }));
  for (const name of await readdir(folder)) {
    if (name < before) await cp(path.join(folder, name), path.join(earlier, name));
  }
  await migrate({ ...service, folder: earlier });
  const owned = parts.move();
  return {
    url,
    open() {
      const db = createDatabase({ ...service, poolSize: POOL_SIZE, onError: () => {} });
      owned.defer(() => db.close());
      return db;
    },
    async upgrade() {
      await migrate({ ...service, folder });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

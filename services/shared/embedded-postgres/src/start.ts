import path from "node:path";

import { makeFolder, openCluster, readPassword, USER } from "./cluster.ts";
import { lockFolder } from "./lock.ts";
import { pidFileOf, startServer, stopServer } from "./server.ts";
import { watchServer } from "./watchdog.ts";

export type EmbeddedPostgres = AsyncDisposable & { readonly url: string };

/**
 * Starts the PostgreSQL that lives in a folder, and makes it at the first start. The server ends
 * with this process; one that outlived its process is stopped before a new one starts. Throws a
 * DataFolderError when the folder is in use or not as it must be.
 */
export async function startEmbeddedPostgres(options: {
  readonly dataDir: string;
  /** Is told what takes long. */
  readonly log?: (message: string) => void;
}): Promise<EmbeddedPostgres> {
  await using parts = new AsyncDisposableStack();
  const folder = await makeFolder(options.dataDir);
  parts.use(await lockFolder(path.join(folder, "scrip.lock"), folder));
  const cluster = await openCluster(folder, options.log ?? (() => {}));
  const password = await readPassword(cluster);
  await stopServer(cluster);
  const { port, pid } = await startServer(cluster);
  parts.defer(() => stopServer(cluster));
  parts.use(watchServer(pidFileOf(cluster), pid));

  const running = parts.move();
  return {
    url: `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

import path from "node:path";

import { makeFolder, openCluster, readPassword, type StartOptions, USER } from "./cluster.ts";
import { keepServer } from "./keeper.ts";
import { lockFolder } from "./lock.ts";
import { startServer, stopServer } from "./server.ts";

export type EmbeddedPostgres = AsyncDisposable & { readonly url: string };

/**
 * Starts the PostgreSQL that lives in a folder, and makes it at the first start. The server ends
 * with this process; one that outlived its process is stopped before a new one starts. One that ends
 * too early is started again on the same port. Throws a DataFolderError when the folder is in use or
 * not as it must be.
 */
export async function startEmbeddedPostgres(
  options: StartOptions & {
    readonly dataDir: string;
    /** Is told when the server has ended, and when it runs again. */
    readonly warn?: (message: string) => void;
  },
): Promise<EmbeddedPostgres> {
  await using parts = new AsyncDisposableStack();
  const folder = await makeFolder(options.dataDir);
  parts.use(await lockFolder(path.join(folder, "scrip.lock"), folder));
  const cluster = await openCluster(folder, options);
  const password = await readPassword(cluster);
  await stopServer(cluster);
  parts.defer(() => stopServer(cluster));
  const server = await startServer(cluster, { stop: options.stop });
  parts.use(keepServer(cluster, server, options.warn ?? (() => {})));

  const running = parts.move();
  return {
    url: `postgres://${USER}:${password}@127.0.0.1:${server.port}/postgres`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

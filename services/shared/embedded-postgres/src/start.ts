import path from "node:path";

import {
  filesOf,
  makeFolder,
  openCluster,
  readPassword,
  type StartOptions,
  USER,
} from "./cluster.ts";
import { keepServer } from "./keeper.ts";
import { readLocation } from "./location.ts";
import { isLocked, lockFolder } from "./lock.ts";
import { readPort, startServer, stopServer } from "./server.ts";

export type EmbeddedPostgres = AsyncDisposable & { readonly url: string };

/**
 * Starts the PostgreSQL server of a data folder, and creates its database at the first start. The
 * server ends with this process; a server that outlived its process is stopped first. A server that
 * crashes is started again on the same port. Throws a DataFolderError if the folder is in use or
 * cannot be used.
 */
export async function startEmbeddedPostgres(
  options: StartOptions & {
    readonly dataDir: string;
    /** Receives a message when the server has ended, and when it runs again. */
    readonly warn?: (message: string) => void;
  },
): Promise<EmbeddedPostgres> {
  await using parts = new AsyncDisposableStack();
  const folder = await makeFolder(options.dataDir);
  parts.use(await lockFolder(lockOf(folder), folder));
  const cluster = await openCluster(folder, options);
  const password = await readPassword(cluster);
  await stopServer(cluster);
  parts.defer(() => stopServer(cluster));
  const server = await startServer(cluster, { stop: options.stop });
  parts.use(keepServer(cluster, server, options.warn ?? (() => {})));

  const running = parts.move();
  return {
    url: urlOf(password, server.port),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The URL of the server that another process runs on the folder; undefined if none runs. */
export async function findEmbeddedPostgres(dataDir: string): Promise<string | undefined> {
  const folder = path.resolve(dataDir);
  if (!(await isLocked(lockOf(folder)))) return undefined;
  const { data, passwordFile } = filesOf(await readLocation(folder));
  const port = await readPort(data);
  if (port === undefined) return undefined;
  const password = await readPassword({ folder, passwordFile });
  return urlOf(password, port);
}

const lockOf = (folder: string): string => path.join(folder, "scrip.lock");

const urlOf = (password: string, port: number): string =>
  `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`;

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, chown, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";

import { DataFolderError } from "./data-folder-error.ts";
import { lockFolder } from "./lock.ts";
import { type Account, findAccount, findPrograms, MAJOR_VERSION, runAs } from "./programs.ts";

export type EmbeddedPostgres = AsyncDisposable & { readonly url: string };

/**
 * Starts the PostgreSQL that lives in `folder`, and makes it at the first start. It is a server of
 * its own and outlives a `kill -9` of this process: the next start stops the orphan first.
 */
export async function startEmbeddedPostgres(options: {
  readonly dataDir: string;
  readonly maxConnections?: number;
}): Promise<EmbeddedPostgres> {
  await using parts = new AsyncDisposableStack();
  const place = await placeOf(options.dataDir);
  parts.use(await lockFolder(path.join(place.folder, "scrip.lock"), place.folder));
  const cluster = await openCluster(place);
  await stopServer(cluster);
  const port = await freePort();
  await startServer(cluster, { port, max_connections: options.maxConnections ?? 100 });
  parts.defer(() => stopServer(cluster));
  const password = await readPassword(cluster);

  const running = parts.move();
  return {
    url: `postgres://scrip:${password}@127.0.0.1:${port}/postgres`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type Place = {
  readonly folder: string;
  readonly data: string;
  readonly passwordFile: string;
  readonly log: string;
};

type Cluster = Place & {
  readonly account: Account | undefined;
  readonly programs: ReturnType<typeof findPrograms>;
};

async function placeOf(dataDir: string): Promise<Place> {
  const folder = path.resolve(dataDir);
  await mkdir(folder, { recursive: true }).catch((cause: Error) => {
    throw new DataFolderError(
      `The data folder ${folder} cannot be made: ${cause.message}. Set SCRIP_DATA_DIR to another one.`,
      { cause },
    );
  });
  const data = path.join(folder, "postgres");
  return {
    folder,
    data,
    passwordFile: path.join(folder, "postgres.password"),
    log: path.join(data, "server.log"),
  };
}

async function openCluster(place: Place): Promise<Cluster> {
  const cluster = { ...place, account: await findAccount(), programs: findPrograms() };
  const found = await stat(place.data).catch(() => undefined);
  if (found === undefined) await initialise(cluster);
  else await checkCluster(place, found.isDirectory());
  return cluster;
}

async function checkCluster({ folder, data }: Place, isFolder: boolean): Promise<void> {
  const version = await readFile(path.join(data, "PG_VERSION"), "utf8").catch(() => undefined);
  const advice = `Restore ${data} from a backup, or remove the data folder ${folder} to start anew.`;
  if (!isFolder || version === undefined) {
    throw new DataFolderError(`${data} is not a PostgreSQL data folder. ${advice}`);
  }
  if (version.trim() !== MAJOR_VERSION) {
    throw new DataFolderError(
      `${data} was made by PostgreSQL ${version.trim()}, and this is ${MAJOR_VERSION}. Dump it with its own version and restore the dump into a new folder.`,
    );
  }
}

/** Into a folder of another name first: a crash in between must not leave half a database. */
async function initialise(cluster: Cluster): Promise<void> {
  const { folder, data, passwordFile, account, programs } = cluster;
  const unfinished = path.join(folder, "postgres.unfinished");
  const password = randomBytes(24).toString("base64url");
  try {
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { mode: 0o700 });
    await writeFile(passwordFile, password, { mode: 0o600 });
    await chmod(passwordFile, 0o600);
    if (account !== undefined) {
      await chown(unfinished, account.uid, account.gid);
      await chown(passwordFile, account.uid, account.gid);
    }
    await runAs(account, programs.initdb, [
      `--pgdata=${unfinished}`,
      `--pwfile=${passwordFile}`,
      "--username=scrip",
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
    ]);
    await rename(unfinished, data);
  } catch (cause) {
    throw new DataFolderError(
      `The database in ${folder} cannot be made: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** Durability stays on; the rest suits one machine that many small transactions come to. */
const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "fsync=on",
  "synchronous_commit=on",
  "shared_buffers=256MB",
  "max_wal_size=2GB",
  "checkpoint_timeout=15min",
  "wal_compression=on",
  "log_min_messages=warning",
  "log_timezone=UTC",
  "timezone=UTC",
];

async function startServer(
  { data, folder, log, account, programs }: Cluster,
  own: Readonly<Record<string, number>>,
) {
  const settings = [...Object.entries(own).map(([name, value]) => `${name}=${value}`), ...SETTINGS]
    .map((setting) => `-c ${setting}`)
    .join(" ");
  try {
    await runAs(account, programs.pgCtl, [
      "start",
      `--pgdata=${data}`,
      "--wait",
      "--timeout=100",
      `--log=${log}`,
      `--options=${settings}`,
    ]);
  } catch (cause) {
    const lines = await readFile(log, "utf8").catch(() => messageOf(cause));
    throw new DataFolderError(
      `The database in ${folder} does not start:\n${lines.trim().split("\n").slice(-5).join("\n")}`,
      { cause },
    );
  }
}

/** A fast shutdown: sessions are ended, everything is flushed. Also of an orphan; repeatable. */
async function stopServer({ data, account, programs }: Cluster): Promise<void> {
  const isThere = await stat(path.join(data, "postmaster.pid")).catch(() => undefined);
  if (isThere === undefined) return;
  await runAs(account, programs.pgCtl, [
    "stop",
    `--pgdata=${data}`,
    "--mode=fast",
    "--wait",
    "--timeout=60",
    // A stale pid file without its server is not an error: the start takes it over.
  ]).catch(() => {});
}

async function readPassword({ folder, passwordFile }: Place): Promise<string> {
  return readFile(passwordFile, "utf8").catch((cause: Error) => {
    throw new DataFolderError(
      `${passwordFile} cannot be read: ${cause.message}. Restore it from a backup, or remove ${folder} to start anew.`,
      { cause },
    );
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  return address.port;
}

function messageOf(error: unknown): string {
  const { stderr } = error as { readonly stderr?: string };
  return stderr?.trim() || (error instanceof Error ? error.message : String(error));
}

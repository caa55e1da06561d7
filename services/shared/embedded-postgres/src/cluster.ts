import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";

import { type Account, findAccount } from "./account.ts";
import { complaintOf, diskFullMessage, isDiskFull, reasonOf } from "./complaints.ts";
import { DataFolderError } from "./data-folder-error.ts";
import { placeDatabase, readLocation } from "./location.ts";
import { findPrograms, MAJOR_VERSION, type Programs, runAs } from "./programs.ts";

export const USER = "scrip";

/** A PostgreSQL data directory and what is needed to run its server. */
export type Cluster = {
  /** The data folder as the user configured it; error messages name it. */
  readonly folder: string;
  /** Contains `data` and `passwordFile`: the data folder, unless the server's account cannot enter that. */
  readonly location: string;
  readonly data: string;
  readonly passwordFile: string;
  readonly account: Account | undefined;
  readonly programs: Programs;
};

export type StartOptions = {
  /** Receives progress messages. */
  readonly log?: (message: string) => void;
  /** Cancels the start, which then fails. */
  readonly stop?: AbortSignal | undefined;
};

/** Creates the data folder if it does not exist, and returns its absolute path. */
export async function makeFolder(dataDir: string): Promise<string> {
  const folder = path.resolve(dataDir);
  // pg_ctl passes the path to a shell in double quotes.
  if (/["`$\\\n]/.test(folder) && process.platform !== "win32") {
    throw new DataFolderError(
      `The data folder ${folder} contains a character that PostgreSQL's pg_ctl cannot handle (one of " \` $ \\ or a line break). Set SCRIP_DATA_DIR to another folder.`,
    );
  }
  try {
    await makeLevels(folder);
    return folder;
  } catch (cause) {
    const found = await stat(folder).catch(() => undefined);
    const problem =
      found === undefined ? `cannot be created: ${reasonOf(cause)}` : "is not a folder";
    throw new DataFolderError(
      `The data folder ${folder} ${problem}. Set SCRIP_DATA_DIR to another folder.`,
      { cause },
    );
  }
}

/** Creates one level after the other: in /proc the recursive mkdir of Node never ends. */
async function makeLevels(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const parent = path.dirname(folder);
  if (parent !== folder) await makeLevels(parent);
  try {
    await mkdir(folder);
  } catch (error) {
    // Another process may have created it concurrently.
    if (!(await isFolder(folder))) throw error;
  }
}

const isFolder = (folder: string): Promise<boolean> =>
  stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Opens the cluster of a folder, and creates it at the first start. */
export async function openCluster(
  folder: string,
  { log = () => {}, stop }: StartOptions,
): Promise<Cluster> {
  const before = await readLocation(folder);
  const found = await findAccount(filesOf(before).data);
  const { location, account } = await placeDatabase(folder, found, log);
  const programs = await findPrograms(account, log);
  const cluster = { folder, location, ...filesOf(location), account, programs };
  if (await isCreated(cluster)) {
    await checkCluster(cluster);
  } else {
    log(`Creating a database in ${cluster.data}`);
    await initialise(cluster, stop);
  }
  return cluster;
}

export const filesOf = (location: string): Pick<Cluster, "data" | "passwordFile"> => ({
  data: path.join(location, "postgres"),
  passwordFile: path.join(location, "postgres.password"),
});

export async function readPassword({
  folder,
  passwordFile,
}: Pick<Cluster, "folder" | "passwordFile">): Promise<string> {
  try {
    return await readFile(passwordFile, "utf8");
  } catch (cause) {
    throw new DataFolderError(
      `${passwordFile} cannot be read: ${reasonOf(cause)}. ${adviceFor(folder)}`,
      { cause },
    );
  }
}

export const adviceFor = (folder: string): string =>
  `Restore ${folder} from a backup, or remove it to start with an empty database.`;

async function isCreated({ folder, data }: Cluster): Promise<boolean> {
  try {
    await stat(data);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw new DataFolderError(
      `The data folder ${folder} cannot be read: ${reasonOf(cause)}. Change its owner, or set SCRIP_DATA_DIR to another folder.`,
      { cause },
    );
  }
}

async function checkCluster({ folder, data }: Cluster): Promise<void> {
  const file = path.join(data, "PG_VERSION");
  const version = (
    await readFile(file, "utf8").catch((cause: unknown) => {
      throw new DataFolderError(
        `${data} is not a readable PostgreSQL folder: ${reasonOf(cause)}. ${adviceFor(folder)}`,
        { cause },
      );
    })
  ).trim();
  if (version === MAJOR_VERSION) return;
  throw new DataFolderError(
    `${data} was created by PostgreSQL ${version}, and this Scrip runs PostgreSQL ${MAJOR_VERSION}. Start the Scrip version that created it, or dump it with PostgreSQL ${version} and restore the dump into a new folder (SCRIP_DATA_DIR).`,
  );
}

/** Defaults that an operator can change with `alter system`. Durability settings stay on, as in PostgreSQL. */
const DEFAULTS = [
  "max_connections=400",
  "shared_buffers=256MB",
  // Rare checkpoints: each is followed by full page images in the log, which slow many small commits.
  "max_wal_size=2GB",
  "checkpoint_timeout=15min",
  // Their defaults are five segments and one, too little with segments of 1 MiB.
  "min_wal_size=256MB",
  "wal_buffers=8MB",
  "wal_compression=on",
  "log_min_messages=warning",
  "log_timezone=UTC",
  "timezone=UTC",
];

/** Creates it under another name first, so that a crash never leaves half a database. */
async function initialise(cluster: Cluster, stop: AbortSignal | undefined): Promise<void> {
  const { folder, location, data, passwordFile, account, programs } = cluster;
  const unfinished = path.join(location, "postgres.unfinished");
  const password = randomBytes(24).toString("base64url");
  try {
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { mode: 0o700 });
    await rm(passwordFile, { force: true });
    await writeFile(passwordFile, password, { mode: 0o600 });
    await chmod(passwordFile, 0o600);
    if (account !== undefined) {
      await chown(unfinished, account.uid, account.gid);
      await chown(passwordFile, account.uid, account.gid);
    }
    const settings = [
      `--pgdata=${unfinished}`,
      `--pwfile=${passwordFile}`,
      `--username=${USER}`,
      // New segments of the log are filled with zeros while commits wait: 16 MiB take up to 80 ms.
      "--wal-segsize=1",
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      ...DEFAULTS.map((setting) => `--set=${setting}`),
    ];
    await runAs(account, programs.initdb, settings, stop);
    await rename(unfinished, data);
  } catch (cause) {
    stop?.throwIfAborted();
    throw new DataFolderError(
      isDiskFull(complaintOf(cause))
        ? diskFullMessage(location)
        : `The database in ${folder} cannot be created: ${complaintOf(cause)}`,
      { cause },
    );
  }
}

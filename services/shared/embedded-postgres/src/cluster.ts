import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";

import { type Account, findAccount } from "./account.ts";
import { DataFolderError } from "./data-folder-error.ts";
import { findPrograms, MAJOR_VERSION, type Programs, runAs } from "./programs.ts";

export const USER = "scrip";

/** A database folder and what is needed to run it. */
export type Cluster = {
  /** What the owner of the data knows: it contains everything else. */
  readonly folder: string;
  readonly data: string;
  readonly passwordFile: string;
  readonly account: Account | undefined;
  readonly programs: Programs;
};

export type StartOptions = {
  /** Is told what takes long. */
  readonly log?: (message: string) => void;
  /** Ends the start before it is done; it then fails. */
  readonly stop?: AbortSignal | undefined;
};

/** Makes the data folder when it is not there, and answers its whole path. */
export async function makeFolder(dataDir: string): Promise<string> {
  const folder = path.resolve(dataDir);
  try {
    await makeLevels(folder);
    return folder;
  } catch (cause) {
    const found = await stat(folder).catch(() => undefined);
    const problem = found === undefined ? `cannot be made: ${String(cause)}` : "is not a folder";
    throw new DataFolderError(
      `The data folder ${folder} ${problem}. Set SCRIP_DATA_DIR to another one.`,
      { cause },
    );
  }
}

/** One level after the other: in /proc the recursive mkdir of Node never ends. */
async function makeLevels(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const parent = path.dirname(folder);
  if (parent !== folder) await makeLevels(parent);
  try {
    await mkdir(folder);
  } catch (error) {
    // Somebody else may have been quicker.
    if (!(await isFolder(folder))) throw error;
  }
}

const isFolder = (folder: string): Promise<boolean> =>
  stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Opens the cluster of a folder, and makes it at the first start. */
export async function openCluster(
  folder: string,
  { log = () => {}, stop }: StartOptions,
): Promise<Cluster> {
  const { data, passwordFile } = filesOf(folder);
  const programs = findPrograms();
  const account = await findAccount(data, path.dirname(programs.initdb));
  const cluster = { folder, data, passwordFile, account, programs };
  if (await isThere(cluster)) {
    await checkCluster(cluster);
  } else {
    log(`making a database in ${data}`);
    await initialise(cluster, stop);
  }
  return cluster;
}

export const filesOf = (folder: string): Pick<Cluster, "data" | "passwordFile"> => ({
  data: path.join(folder, "postgres"),
  passwordFile: path.join(folder, "postgres.password"),
});

export async function readPassword({
  folder,
  passwordFile,
}: Pick<Cluster, "folder" | "passwordFile">): Promise<string> {
  try {
    return await readFile(passwordFile, "utf8");
  } catch (cause) {
    throw new DataFolderError(
      `${passwordFile} cannot be read: ${String(cause)}. ${adviceFor(folder)}`,
      { cause },
    );
  }
}

export const adviceFor = (folder: string): string =>
  `Restore ${folder} from a backup, or remove it to start anew.`;

async function isThere({ folder, data }: Cluster): Promise<boolean> {
  try {
    await stat(data);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw new DataFolderError(
      `The data folder ${folder} cannot be read: ${String(cause)}. Change its owner, or set SCRIP_DATA_DIR to another folder.`,
      { cause },
    );
  }
}

async function checkCluster({ folder, data }: Cluster): Promise<void> {
  const file = path.join(data, "PG_VERSION");
  const version = (
    await readFile(file, "utf8").catch((cause: unknown) => {
      throw new DataFolderError(
        `${data} is not a readable PostgreSQL folder: ${String(cause)}. ${adviceFor(folder)}`,
        { cause },
      );
    })
  ).trim();
  if (version === MAJOR_VERSION) return;
  throw new DataFolderError(
    `${data} was made by PostgreSQL ${version}, and this is ${MAJOR_VERSION}. Dump it with its own version, and restore the dump into a new folder.`,
  );
}

/** What an operator may change with `alter system`; durability stays as PostgreSQL has it: on. */
const DEFAULTS = [
  "max_connections=200",
  "shared_buffers=256MB",
  // Seldom checkpoints: each is followed by whole pages in the log, many small commits feel that.
  "max_wal_size=2GB",
  "checkpoint_timeout=15min",
  "wal_compression=on",
  "log_min_messages=warning",
  "log_timezone=UTC",
  "timezone=UTC",
];

/** Into a folder of another name first: a crash in between must not leave half a database. */
async function initialise(cluster: Cluster, stop: AbortSignal | undefined): Promise<void> {
  const { folder, data, passwordFile, account, programs } = cluster;
  const unfinished = path.join(folder, "postgres.unfinished");
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
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      ...DEFAULTS.map((setting) => `--set=${setting}`),
    ];
    await runAs(account, programs.initdb, settings, stop);
    await rename(unfinished, data);
  } catch (cause) {
    stop?.throwIfAborted();
    throw new DataFolderError(`The database in ${folder} cannot be made: ${complaintOf(cause)}`, {
      cause,
    });
  }
}

/** What a program complained about; else what went wrong with running it. */
export function complaintOf(error: unknown): string {
  const { stderr } = error as { readonly stderr?: string };
  return stderr?.trim() || String(error);
}

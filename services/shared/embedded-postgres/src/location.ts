import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { lstat, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { type Account, canEnter, findCapability } from "./account.ts";
import { DataFolderError } from "./data-folder-error.ts";

const run = promisify(execFile);

/** Names the folder that holds the database when it is not the data folder itself. */
const LOCATION_FILE = "postgres.location";

/** The folder that holds the database of a data folder. */
export async function readLocation(folder: string): Promise<string> {
  const text = await readFile(path.join(folder, LOCATION_FILE), "utf8").catch(() => "");
  return text.trim() || folder;
}

export type Placement = { readonly location: string; readonly account: Account | undefined };

/**
 * Makes sure that the account can enter the folder of the database: with a capability where the
 * system grants one, else by keeping the database in a folder that every user can enter.
 */
export async function placeDatabase(
  folder: string,
  account: Account | undefined,
  log: (message: string) => void,
): Promise<Placement> {
  const location = await readLocation(folder);
  if (account === undefined) return { location, account };
  if (location === folder && !(await canEnter(account, folder))) {
    const capability = await findCapability();
    if (capability !== undefined) return { location, account: { ...account, capability } };
    const moved = await moveDatabase(folder, account);
    log(`No user but root can enter ${folder}: the database is stored in ${moved}`);
    return { location: moved, account };
  }
  return { location, account };
}

/** The location is written first: a start that was interrupted moves the database at the next one. */
async function moveDatabase(folder: string, account: Account): Promise<string> {
  const name = `database-${randomBytes(6).toString("hex")}`;
  const location = path.join(await rootStorage(account), name);
  await mkdir(location, { mode: 0o711 });
  await writeFile(path.join(folder, LOCATION_FILE), `${location}\n`, { mode: 0o600 });
  for (const entry of ["postgres", "postgres.password"]) {
    const from = path.join(folder, entry);
    if (await exists(from)) await moveAcrossDisks(from, path.join(location, entry));
  }
  return location;
}

async function moveAcrossDisks(from: string, to: string): Promise<void> {
  const unfinished = `${to}.unfinished`;
  await run("cp", ["-a", from, unfinished]);
  await rename(unfinished, to);
  await rm(from, { recursive: true, force: true });
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

/** A folder of root that every user can enter and only root can write. */
export async function rootStorage(account: Account): Promise<string> {
  const candidates = ["/var/lib/scrip", path.join(tmpdir(), "scrip-root")];
  for (const folder of candidates) {
    await mkdir(folder, { recursive: true, mode: 0o755 }).catch(() => {});
    const found = await lstat(folder).catch(() => undefined);
    const isSafe = found?.isDirectory() && found.uid === 0 && (found.mode & 0o022) === 0;
    if (isSafe && (await canEnter(account, folder))) return folder;
  }
  throw new DataFolderError(
    `PostgreSQL cannot run as root, and no other user can enter this checkout or its data folder. Scrip then uses ${candidates.join(" or ")}, and neither can be used. Start Scrip as another user, move the checkout to a folder such as /opt/scrip, or set DATABASE_URL.`,
  );
}

import { link, readFile, rename, rm, writeFile } from "node:fs/promises";

import { diskFullMessage, isDiskFull, reasonOf } from "./complaints.ts";
import { DataFolderError } from "./data-folder-error.ts";

/** Locks a folder for this process. A lock whose process has ended is taken over. */
export async function lockFolder(file: string, folder: string): Promise<AsyncDisposable> {
  const mine = `${process.pid} ${await startOf(process.pid)}`;
  // A hard link appears with its content, so that no process reads half a lock.
  const draft = `${file}.${process.pid}`;
  try {
    await writeFile(draft, mine, { mode: 0o600 });
    await takeLock(file, draft, folder);
  } catch (cause) {
    if (cause instanceof DataFolderError) throw cause;
    throw new DataFolderError(
      isDiskFull(String(cause))
        ? diskFullMessage(folder)
        : `The data folder ${folder} cannot be written: ${reasonOf(cause)}. Change its owner, or set SCRIP_DATA_DIR to another folder.`,
      { cause },
    );
  } finally {
    await rm(draft, { force: true });
  }
  return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
}

/** Whether a running process holds the lock. */
export async function isLocked(file: string): Promise<boolean> {
  return isHeld(await readFile(file, "utf8").catch(() => ""));
}

async function takeLock(file: string, draft: string, folder: string): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    if (await linked(draft, file)) return;
    const found = await readFile(file, "utf8").catch(() => "");
    if (await isHeld(found)) throw inUse(folder, found);
    // Moved aside rather than removed: if another process replaced it, that lock is put back.
    const aside = `${draft}.stale`;
    if (!(await moved(file, aside))) continue;
    const taken = await readFile(aside, "utf8");
    if (await isHeld(taken)) {
      await linked(aside, file);
      await rm(aside, { force: true });
      throw inUse(folder, taken);
    }
    await rm(aside, { force: true });
  }
  throw new DataFolderError(`The data folder ${folder} cannot be locked; remove ${file}.`);
}

const MAX_ATTEMPTS = 5;

const inUse = (folder: string, lock: string): DataFolderError =>
  new DataFolderError(
    `The data folder ${folder} is in use by process ${lock.split(" ")[0]}. Stop that process, or set SCRIP_DATA_DIR to another folder.`,
  );

async function isHeld(lock: string): Promise<boolean> {
  const [pid, start] = lock.split(" ");
  if (!isRunning(Number(pid))) return false;
  // After a reboot, or in another container, another process can have the same number.
  return (await startOf(Number(pid))) === start;
}

export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/**
 * Start time of a process in ticks since boot; `-` where the system has no /proc, and for a process
 * that has ended but was not yet reaped.
 */
export async function startOf(pid: number): Promise<string> {
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The second field is the program's name in parentheses, which may contain spaces.
  const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
  return fields[0] === ZOMBIE ? "-" : (fields[START_FIELD] ?? "-");
}

const ZOMBIE = "Z";

/** Field 22 of proc(5), counted from 0 after the name. */
const START_FIELD = 19;

const linked = (from: string, to: string): Promise<boolean> => unless("EEXIST", link(from, to));
const moved = (from: string, to: string): Promise<boolean> => unless("ENOENT", rename(from, to));

async function unless(code: string, work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (codeOf(error) === code) return false;
    throw error;
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import path from "node:path";

import { isRunning } from "@scrip/embedded-postgres";

/** The file system in memory that every Linux has. */
const MEMORY = "/dev/shm";
const TMPFS = 0x01_02_19_94;
const PREFIX = "scrip-test-";

/** More than the databases, logs and brokers of a complete run take. */
const MIN_BYTES = 8 * 2 ** 30;

/**
 * Puts the temporary files of this process, and of those that it starts, into memory until disposed.
 * Tests create and drop databases of hundreds of files: ext4 searches long for inodes that were not in
 * use seconds ago, which takes a third of the processor time. Does nothing where TMPDIR is set, or
 * where the file system in memory is small or missing.
 */
export function temporaryFilesInMemory(): Disposable {
  if (process.env["TMPDIR"] !== undefined || !hasRoom()) return { [Symbol.dispose]() {} };
  removeLeftFolders();
  const folder = path.join(MEMORY, `${PREFIX}${process.pid}`);
  mkdirSync(folder);
  // As root, the account that runs PostgreSQL must be able to enter it.
  chmodSync(folder, 0o755);
  process.env["TMPDIR"] = folder;
  return {
    [Symbol.dispose]() {
      delete process.env["TMPDIR"];
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

function hasRoom(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY);
    return type === TMPFS && bavail * bsize >= MIN_BYTES;
  } catch {
    return false;
  }
}

/** A run that is killed cannot remove its files, and memory is scarcer than disk. */
function removeLeftFolders(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : 0;
    if (pid > 0 && !isRunning(pid)) {
      rmSync(path.join(MEMORY, name), { recursive: true, force: true });
    }
  }
}

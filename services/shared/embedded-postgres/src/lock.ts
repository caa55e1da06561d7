import { open, readFile, rm } from "node:fs/promises";

import { DataFolderError } from "./data-folder-error.ts";

/** Lets one process at a time work in a folder. A lock whose process is gone is taken over. */
export async function lockFolder(file: string, folder: string): Promise<AsyncDisposable> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const handle = await open(file, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return undefined;
      throw new DataFolderError(`The data folder ${folder} cannot be written: ${error.message}`, {
        cause: error,
      });
    });
    if (handle !== undefined) {
      await handle.writeFile(String(process.pid));
      await handle.close();
      return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
    }
    const owner = Number(await readFile(file, "utf8").catch(() => ""));
    if (owner !== process.pid && (await isRunning(owner))) {
      throw new DataFolderError(
        `The data folder ${folder} is in use by process ${owner}. Stop that one, or set SCRIP_DATA_DIR to another folder.`,
      );
    }
    await rm(file, { force: true });
  }
  throw new DataFolderError(`The data folder ${folder} cannot be locked; remove ${file}.`);
}

async function isRunning(pid: number): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  // After a reboot the number may belong to anything; ours is always a Node.
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "node");
  return command.includes("node");
}

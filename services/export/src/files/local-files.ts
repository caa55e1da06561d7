import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";

import type { FileStore } from "./file-store.ts";

/** Small files are written in one step, large ones in steps of this size. */
const BUFFER_BYTES = 1 << 20;

const PART = ".part";
/** A running export writes at least once in this time. */
const ABANDONED_AFTER_MS = 60 * 60_000;

/** Files in a folder, which all processes of the service share. */
export const createLocalFiles = (folder: string): FileStore => ({
  async write(key, content) {
    const file = path.join(folder, key);
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const part = `${file}${PART}`;
    try {
      const size = await writeAll(part, content);
      await rename(part, file);
      return size;
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  },
  read: (key, { first, last }) =>
    createReadStream(path.join(folder, key), { start: first, end: last }),
  remove: (key) => rm(path.join(folder, key), { force: true }),
  async removeAbandoned() {
    const names = await readdir(folder, { recursive: true }).catch(() => []);
    for (const name of names.filter((one) => one.endsWith(PART))) {
      const file = path.join(folder, name);
      const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }));
      // Files have the time of the machine.
      // oxlint-disable-next-line no-restricted-properties
      if (Date.now() - mtimeMs > ABANDONED_AFTER_MS) await rm(file, { force: true });
    }
  },
});

async function writeAll(file: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  await using handle = await open(file, "w", 0o600);
  let size = 0;
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (bytes === 0) return;
    // Unlike `writev`, it continues where a full disk has taken a part only, and so reports it.
    await handle.writeFile(Buffer.concat(waiting));
    waiting = [];
    bytes = 0;
  };
  for await (const chunk of content) {
    waiting.push(chunk);
    bytes += chunk.byteLength;
    size += chunk.byteLength;
    if (bytes >= BUFFER_BYTES) await flush();
  }
  await flush();
  await handle.sync();
  return size;
}

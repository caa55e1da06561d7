import { createReadStream } from "node:fs";
import { appendFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";

const BUFFER_CHARS = 32 * 1024;

/** Buffered lines for many files, with few of them in memory. */
export class LineWriter {
  readonly #buffers = new Map<string, string>();

  async write(file: string, text: string): Promise<void> {
    const buffered = (this.#buffers.get(file) ?? "") + text;
    if (buffered.length < BUFFER_CHARS) {
      this.#buffers.set(file, buffered);
      return;
    }
    this.#buffers.delete(file);
    await appendFile(file, buffered);
  }

  async flush(): Promise<void> {
    for (const [file, text] of this.#buffers) await appendFile(file, text);
    this.#buffers.clear();
  }
}

/** Records on disk, split by their key into parts that fit into memory: two of them are joined part by part. */
export class Partitions<Item extends { readonly key: string }> {
  readonly #writer = new LineWriter();
  readonly #present = new Set<number>();
  readonly #prefix: string;
  readonly count: number;

  constructor(folder: string, name: string, count: number) {
    this.#prefix = path.join(folder, name);
    this.count = count;
  }

  async add(item: Item): Promise<void> {
    const index = hashOf(item.key) % this.count;
    this.#present.add(index);
    await this.#writer.write(this.#fileOf(index), `${JSON.stringify(item)}\n`);
  }

  flush(): Promise<void> {
    return this.#writer.flush();
  }

  async *read(index: number): AsyncGenerator<Item> {
    if (!this.#present.has(index)) return;
    const lines = createInterface({ input: createReadStream(this.#fileOf(index)) });
    for await (const line of lines) yield JSON.parse(line) as Item;
  }

  #fileOf = (index: number): string => `${this.#prefix}-${index}.jsonl`;
}

/** FNV-1a. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

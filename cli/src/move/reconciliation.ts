import type { MovedItem, MovedKind, StoredItem } from "./moved-item.ts";
import type { Partitions } from "./partitions.ts";

/** Differences and problems that are listed one by one; the others are only counted. */
const MAX_LISTED = 20;

/** Counts everything, and keeps the first. */
export class Findings {
  readonly first: string[] = [];
  count = 0;

  add(text: string): void {
    this.count += 1;
    if (this.first.length < MAX_LISTED) this.first.push(text);
  }
}

type Figure = { files: bigint; scrip: bigint };

/** The sums of the files, and those of the same objects in Scrip. */
export class Reconciliation {
  readonly figures = new Map<string, Figure>();
  readonly missing = new Findings();
  readonly different = new Findings();

  addItem(kind: MovedKind, item: MovedItem, stored: StoredItem | undefined): void {
    this.#addFigures(kind.figuresOf(item.values), "files");
    const name = `${kind.noun} ${item.key}`;
    if (stored === undefined) {
      this.missing.add(name);
      return;
    }
    this.#addFigures(kind.figuresOf(stored.values), "scrip");
    const fields = differingFields(item, stored);
    if (fields.length === 0) return;
    const parts = fields.map(
      (field) =>
        `${field} ${item.values[field]} in the file, ${stored.values[field] || "nothing"} in Scrip`,
    );
    this.different.add(`${name}: ${parts.join("; ")}`);
  }

  #addFigures(figures: ReadonlyMap<string, bigint>, side: keyof Figure): void {
    for (const [label, value] of figures) {
      const figure = this.figures.get(label) ?? { files: 0n, scrip: 0n };
      figure[side] += value;
      this.figures.set(label, figure);
    }
  }
}

/** Fields that the file has and Scrip has otherwise. */
export const differingFields = (item: MovedItem, stored: StoredItem): readonly string[] =>
  Object.keys(item.values).filter((field) => item.values[field] !== stored.values[field]);

export type Pair = { readonly item: MovedItem; readonly stored: StoredItem | undefined };

/** Joins files and Scrip part by part. An item that is listed twice counts once. */
export async function* join(
  items: Partitions<MovedItem>,
  stored: Partitions<StoredItem>,
  onRepeat?: (item: MovedItem) => void,
): AsyncGenerator<Pair> {
  for (let index = 0; index < items.count; index += 1) {
    const known = new Map<string, StoredItem>();
    for await (const each of stored.read(index)) known.set(each.key, each);
    const seen = new Set<string>();
    for await (const item of items.read(index)) {
      if (seen.has(item.key)) {
        onRepeat?.(item);
        continue;
      }
      seen.add(item.key);
      yield { item, stored: known.get(item.key) };
    }
  }
}

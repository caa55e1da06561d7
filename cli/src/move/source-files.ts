import type { StartProgress } from "../progress.ts";
import { ColumnFault, type MovedItem, RowFault } from "./moved-item.ts";
import type { Partitions } from "./partitions.ts";
import type { Findings } from "./reconciliation.ts";
import { readTable, type TableRow } from "./table.ts";

export type SourceFile = {
  readonly file: string;
  readonly itemOf: (row: TableRow) => MovedItem;
};

/** Objects that the rows refer to and that must exist in the project. */
export type Used = {
  /** Types of vouchers by campaign. */
  readonly campaigns: Map<string, Set<string>>;
  readonly metadataKeys: Set<string>;
  /** Metadata that is not text. */
  readonly typedKeys: Set<string>;
};

/** Reads all rows; those that cannot be moved are problems. */
export async function readSources(
  files: readonly SourceFile[],
  {
    items,
    used,
    problems,
    startProgress,
  }: {
    readonly items: Pick<Partitions<MovedItem>, "add" | "flush">;
    readonly used: Used;
    readonly problems: Findings;
    readonly startProgress: StartProgress;
  },
): Promise<void> {
  for (const { file, itemOf } of files) {
    using progress = startProgress(`reading ${file}`);
    await readRows(readTable(file, progress), { file, problems }, async (row) => {
      const item = itemOf(row);
      collect(item, used);
      await items.add(item);
    });
  }
  await items.flush();
}

/** Reads rows until the end; a missing column is one problem of the file and ends it. */
export async function readRows(
  rows: AsyncIterable<TableRow>,
  { file, problems }: { readonly file: string; readonly problems: Findings },
  read: (row: TableRow) => Promise<void>,
): Promise<void> {
  for await (const row of rows) {
    try {
      await read(row);
    } catch (error) {
      if (error instanceof ColumnFault) {
        problems.add(`${file}: ${error.message}`);
        return;
      }
      if (!(error instanceof RowFault)) throw error;
      problems.add(`${file}, row ${row.number}: ${error.message}`);
    }
  }
}

function collect({ campaign, values, metadata }: MovedItem, used: Used): void {
  if (campaign !== "") {
    const types = used.campaigns.get(campaign) ?? new Set();
    used.campaigns.set(campaign, types.add(values["type"] ?? ""));
  }
  for (const [key, value] of Object.entries(metadata)) {
    used.metadataKeys.add(key);
    if (typeof value !== "string") used.typedKeys.add(key);
  }
}

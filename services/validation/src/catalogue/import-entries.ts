import { ApiError, duplicate, notFound } from "@scrip/errors";
import { isUniqueViolation, type Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import type { ImportedEntry } from "../mapping/import-outcome.ts";
import { findReservedSourceIds } from "../store/catalogue-bin.ts";
import {
  findEntries,
  type Kind,
  type Rows,
  saveEntries,
  SOURCE_ID_INDEX,
} from "../store/catalogue.ts";
import { entryKeyOf } from "./catalogue-entries.ts";

export type EntryImport<Name extends Kind> = {
  readonly item: Parameters<typeof entryKeyOf>[0];
  /** The row after the import; an ApiError rejects the item. */
  readonly change: (stored: Rows[Name] | undefined) => Rows[Name];
};

const MAX_ATTEMPTS = 3;

/**
 * Creates or changes products or SKUs under their row locks, with two statements for the batch. Items of the same entry
 * are applied in order. When a concurrent request creates one of them first, the batch runs again and changes it.
 */
export async function importEntries<Name extends Kind>(
  deps: Pick<Deps, "db">,
  kind: Name,
  batch: { readonly projectId: string; readonly imports: readonly EntryImport<Name>[] },
): Promise<readonly ImportedEntry[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await deps.db.transaction((tx) => importOnce(tx, kind, batch));
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isUniqueViolation(error, SOURCE_ID_INDEX[kind])) throw error;
    }
  }
}

async function importOnce<Name extends Kind>(
  tx: Queryable,
  kind: Name,
  {
    projectId,
    imports,
  }: { readonly projectId: string; readonly imports: readonly EntryImport<Name>[] },
): Promise<ImportedEntry[]> {
  const keys = imports.flatMap(({ item }) => entryKeyOf(item) ?? []);
  const sourceIds = imports.flatMap(({ item }) => item.sourceId ?? []);
  const byId = new Map<string, Rows[Name]>();
  const bySourceId = new Map<string, Rows[Name]>();
  const remember = (row: Rows[Name]): void => {
    byId.set(row.id, row);
    if (row.source_id !== null) bySourceId.set(row.source_id, row);
  };
  for (const row of await findEntries(tx, kind, { projectId, keys })) remember(row);
  const changed = new Map<string, Rows[Name]>();
  // Behind the locks of the stored rows.
  const reserved = await findReservedSourceIds(tx, kind, { projectId, sourceIds });
  const results = imports.map(({ item, change }): ImportedEntry => {
    if (item.sourceId !== undefined && reserved.has(item.sourceId))
      return duplicate(kind, "id", item.sourceId);
    const key = entryKeyOf(item);
    const stored = key && (key.column === "id" ? byId : bySourceId).get(key.value);
    if (stored === undefined && key?.column === "id") return notFound(kind, key.value);
    try {
      const row = change(stored);
      const owner = row.source_id === null ? undefined : bySourceId.get(row.source_id);
      if (owner !== undefined && owner.id !== row.id) {
        return duplicate(kind, "id", row.source_id ?? "");
      }
      remember(row);
      changed.set(row.id, row);
      return stored === undefined ? "created" : "updated";
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  });
  // In one order: concurrent batches that create the same entries wait for each other, without a deadlock. SKUs lock
  // their products, which imports of products lock in the order of ids.
  const rows = [...changed.values()].toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  await saveEntries(tx, kind, { projectId, rows });
  return results;
}

const orderOf = (row: Rows[Kind]): string =>
  `${"product_id" in row ? row.product_id : ""} ${row.source_id ?? row.id}`;

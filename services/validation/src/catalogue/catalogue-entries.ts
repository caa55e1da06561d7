import { duplicate, notFound } from "@scrip/errors";
import { isUniqueViolation, type Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import { findReservedSourceIds } from "../store/catalogue-bin.ts";
import {
  type EntryKey,
  findEntry,
  findEntryByName,
  type Kind,
  type Rows,
  saveEntry,
  SOURCE_ID_INDEX,
} from "../store/catalogue.ts";

export type EntryEdit<Name extends Kind> = {
  readonly projectId: string;
  /** Undefined creates a new entry. */
  readonly key: EntryKey | undefined;
  readonly change: (stored: Rows[Name] | undefined) => Rows[Name];
};

/**
 * Creates or changes a product or SKU under its row lock. Of two concurrent requests for one new
 * source id, one creates the entry and the other changes it.
 */
export async function upsertEntry<Name extends Kind>(
  deps: Pick<Deps, "db">,
  kind: Name,
  edit: EntryEdit<Name>,
): Promise<Rows[Name]> {
  try {
    return await upsertOnce(deps, kind, edit);
  } catch (error) {
    if (!isUniqueViolation(error, SOURCE_ID_INDEX[kind])) throw error;
    if (edit.key?.column === "source_id") return upsertOnce(deps, kind, edit);
    throw duplicate(kind, "id", edit.change(undefined).source_id ?? "");
  }
}

const upsertOnce = <Name extends Kind>(
  { db }: Pick<Deps, "db">,
  kind: Name,
  { projectId, key, change }: EntryEdit<Name>,
): Promise<Rows[Name]> =>
  db.transaction(async (tx) => {
    const stored = key && (await findEntry(tx, kind, { projectId, key, lock: "change" }));
    if (stored === undefined && key?.column === "id") throw notFound(kind, key.value);
    const row = change(stored);
    await requireFreeSourceId(tx, kind, { projectId, stored, row });
    await saveEntry(tx, kind, { projectId, row });
    return row;
  });

/** The source id of an entry in the bin stays reserved. Checked behind the lock of the stored row. */
async function requireFreeSourceId(
  tx: Queryable,
  kind: Kind,
  {
    projectId,
    stored,
    row: { source_id: sourceId },
  }: {
    readonly projectId: string;
    readonly stored: Rows[Kind] | undefined;
    readonly row: Rows[Kind];
  },
): Promise<void> {
  if (sourceId === null || sourceId === stored?.source_id) return;
  const reserved = await findReservedSourceIds(tx, kind, { projectId, sourceIds: [sourceId] });
  if (reserved.size > 0) throw duplicate(kind, "id", sourceId);
}

export function entryKeyOf(request: {
  readonly id?: string | undefined;
  readonly sourceId?: string | undefined;
}): EntryKey | undefined {
  if (request.id !== undefined) return { column: "id", value: request.id };
  if (request.sourceId === undefined) return undefined;
  return { column: "source_id", value: request.sourceId };
}

export async function requireEntry<Name extends Kind>(
  db: Queryable,
  kind: Name,
  at: { readonly projectId: string; readonly name: string },
): Promise<Rows[Name]> {
  const row = await findEntryByName(db, kind, at);
  if (row === undefined) throw notFound(kind, at.name);
  return row;
}

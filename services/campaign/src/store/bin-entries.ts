import type { FilterFields } from "@scrip/filters";
import { listReads, type ListSource, type Queryable } from "@scrip/postgres";

export type BinEntry = {
  readonly id: string;
  readonly resourceId: string;
  readonly resourceType: "campaign" | "voucher" | "product" | "sku";
  readonly resourceName: string | null;
  /** The campaign of a voucher, or the product of a SKU. */
  readonly parentId: string | null;
  readonly createdAt: number;
};

export type ProjectBinEntry = BinEntry & { readonly projectId: string };

type Row = {
  readonly id: string;
  readonly resource_id: string;
  readonly resource_type: BinEntry["resourceType"];
  readonly resource_name: string | null;
  readonly resource_parent_id: string | null;
  readonly created_at: Date;
};

const COLUMNS = "id, resource_id, resource_type, resource_name, resource_parent_id, created_at";

/** An object that has an entry keeps it. */
export async function insertBinEntries(
  tx: Queryable,
  entries: readonly ProjectBinEntry[],
): Promise<void> {
  await tx.query(
    `insert into bin_entry (project_id, ${COLUMNS})
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
                          $7::timestamptz[])
         on conflict (project_id, resource_id) do nothing`,
    [
      entries.map(({ projectId }) => projectId),
      entries.map(({ id }) => id),
      entries.map(({ resourceId }) => resourceId),
      entries.map(({ resourceType }) => resourceType),
      entries.map(({ resourceName }) => resourceName),
      entries.map(({ parentId }) => parentId),
      entries.map(({ createdAt }) => new Date(createdAt)),
    ],
  );
}

export const binFilters: FilterFields = {
  named: {
    id: { type: "text", sql: "b.id" },
    resource_type: { type: "text", sql: "b.resource_type" },
    resource_name: { type: "text", sql: "b.resource_name" },
    resource_id: { type: "text", sql: "b.resource_id" },
    resource_parent_id: { type: "text", sql: "b.resource_parent_id" },
    created_at: { type: "date", sql: "b.created_at" },
  },
};

/** A page of the bin. */
export async function listBinEntries(
  db: ListSource,
  listing: {
    readonly projectId: string;
    /** Over `bin_entry b`; the first value is the project. */
    readonly conditions: readonly string[];
    readonly values: readonly unknown[];
    readonly descending: boolean;
    readonly after: string | undefined;
    readonly limit: number;
  },
): Promise<{
  readonly entries: readonly BinEntry[];
  readonly hasMore: boolean;
}> {
  const { projectId, conditions, values, descending, after, limit } = listing;
  const where = ["b.project_id = $1", ...conditions];
  const parameters = [...values];
  if (after !== undefined) where.push(`b.id ${descending ? "<" : ">"} $${parameters.push(after)}`);
  // Without the number of all entries, which no response has.
  const { rows } = await listReads(db, projectId).query<Row>(
    `select ${COLUMNS} from bin_entry b
      where ${where.join(" and ")}
      order by b.id ${descending ? "desc" : "asc"}
      limit ${limit + 1}`,
    parameters,
  );
  const hasMore = rows.length > limit;
  return { entries: rows.slice(0, limit).map(entryFromRow), hasMore };
}

export async function findBinEntry(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<BinEntry | undefined> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from bin_entry where project_id = $1 and id = $2`,
    [projectId, id],
  );
  return rows[0] && entryFromRow(rows[0]);
}

/** Deletes an entry, and those of everything that belongs to its object. */
export async function deleteBinEntry(db: Queryable, projectId: string, id: string): Promise<void> {
  const entry = await findBinEntry(db, projectId, id);
  // The id is part of the statement's values at planning time, so that PostgreSQL can estimate the number of rows of
  // the object; otherwise it may scan the whole bin.
  if (entry !== undefined) await deleteBinEntriesOf(db, projectId, [entry.resourceId]);
}

/** Deletes the entries of objects, and of everything that belongs to them. */
export async function deleteBinEntriesOf(
  db: Queryable,
  projectId: string,
  resourceIds: readonly string[],
): Promise<void> {
  await db.query(
    `delete from bin_entry
      where project_id = $1
        and (resource_id = any($2::text[]) or resource_parent_id = any($2::text[]))`,
    [projectId, resourceIds],
  );
}

const entryFromRow = (row: Row): BinEntry => ({
  id: row.id,
  resourceId: row.resource_id,
  resourceType: row.resource_type,
  resourceName: row.resource_name,
  parentId: row.resource_parent_id,
  createdAt: row.created_at.getTime(),
});

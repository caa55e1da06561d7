import type { JsonObject } from "@bufbuild/protobuf";
import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import { type ProjectQueryable, type Queryable, readPage } from "@scrip/postgres";

import { sortingOf } from "./sorting.ts";

type Entry = {
  readonly id: string;
  readonly source_id: string | null;
  readonly price: bigint | null;
  readonly image_url: string | null;
  readonly metadata: JsonObject;
  readonly created_at: Date;
  readonly updated_at: Date | null;
};

export type ProductRow = Entry & {
  readonly name: string | null;
  /** Names of the attributes that its SKUs have. */
  readonly attributes: readonly string[];
};

export type SkuRow = Entry & {
  readonly product_id: string;
  readonly sku: string | null;
  readonly currency: string | null;
  readonly attributes: JsonObject;
};

export type Rows = { readonly product: ProductRow; readonly sku: SkuRow };
export type Kind = keyof Rows;

const COLUMNS: { readonly [Name in Kind]: readonly (keyof Rows[Name] & string)[] } = {
  product: [
    "id",
    "source_id",
    "name",
    "price",
    "attributes",
    "image_url",
    "metadata",
    "created_at",
    "updated_at",
  ],
  sku: [
    "id",
    "source_id",
    "product_id",
    "sku",
    "price",
    "currency",
    "attributes",
    "image_url",
    "metadata",
    "created_at",
    "updated_at",
  ],
};

/** Unique index that a duplicate source id violates. */
export const SOURCE_ID_INDEX = {
  product: "product_project_source_id",
  sku: "sku_project_source_id",
} as const satisfies Record<Kind, string>;

/** Foreign key that a SKU of a deleted product violates. */
export const PRODUCT_OF_SKU = "sku_project_id_product_id_fkey";

export type EntryKey = { readonly column: "id" | "source_id"; readonly value: string };

const LOCKS = { change: "for no key update", deletion: "for update" };

/**
 * With `lock`, the row stays locked until the transaction ends: for a change, SKUs can refer to a locked product; for a
 * deletion, new ones wait for its end.
 */
export async function findEntry<Name extends Kind>(
  db: Queryable,
  kind: Name,
  at: { readonly projectId: string; readonly key: EntryKey; readonly lock?: keyof typeof LOCKS },
): Promise<Rows[Name] | undefined> {
  const { rows } = await db.query<Rows[Name]>(
    `select ${COLUMNS[kind].join(", ")} from ${kind}
      where project_id = $1 and ${at.key.column} = $2 ${at.lock === undefined ? "" : LOCKS[at.lock]}`,
    [at.projectId, at.key.value],
  );
  return rows[0];
}

/** By id, otherwise by source id. */
export async function findEntryByName<Name extends Kind>(
  db: Queryable,
  kind: Name,
  at: { readonly projectId: string; readonly name: string },
): Promise<Rows[Name] | undefined> {
  const { projectId, name: value } = at;
  return (
    (await findEntry(db, kind, { projectId, key: { column: "id", value } })) ??
    (await findEntry(db, kind, { projectId, key: { column: "source_id", value } }))
  );
}

/** Inserts or replaces an entry. Violates `SOURCE_ID_INDEX` if another entry has its source id. */
export async function saveEntry<Name extends Kind>(
  db: Queryable,
  kind: Name,
  entry: { readonly projectId: string; readonly row: Rows[Name] },
): Promise<void> {
  const columns = COLUMNS[kind];
  await db.query(
    `insert into ${kind} (project_id, ${columns.join(", ")})
     values ($1, ${columns.map((_, index) => `$${index + 2}`).join(", ")})
     on conflict (project_id, id) do update
        set ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}`,
    [entry.projectId, ...columns.map((column) => entry.row[column])],
  );
}

/** Unordered. Rows are locked in the order of their ids until the transaction ends, unless `lock` is false. */
export async function findEntries<Name extends Kind>(
  db: Queryable,
  kind: Name,
  at: { readonly projectId: string; readonly keys: readonly EntryKey[]; readonly lock?: boolean },
): Promise<readonly Rows[Name][]> {
  if (at.keys.length === 0) return [];
  const valuesOf = (column: EntryKey["column"]): string[] =>
    at.keys.flatMap((key) => (key.column === column ? [key.value] : []));
  const { rows } = await db.query<Rows[Name]>(
    `select ${COLUMNS[kind].join(", ")} from ${kind}
      where project_id = $1
        and id in (select id from ${kind} where project_id = $1 and id = any($2::text[])
                    union
                   select id from ${kind} where project_id = $1 and source_id = any($3::text[]))
      order by id ${at.lock === false ? "" : "for no key update"}`,
    [at.projectId, valuesOf("id"), valuesOf("source_id")],
  );
  return rows;
}

const COLUMN_TYPES: Readonly<Record<string, string>> = {
  price: "int8",
  metadata: "jsonb",
  created_at: "timestamptz",
  updated_at: "timestamptz",
};

/** As `saveEntry`, for many entries in one statement. */
export async function saveEntries<Name extends Kind>(
  db: Queryable,
  kind: Name,
  entries: { readonly projectId: string; readonly rows: readonly Rows[Name][] },
): Promise<void> {
  if (entries.rows.length === 0) return;
  const columns = COLUMNS[kind];
  const typeOf = (column: string): string =>
    COLUMN_TYPES[column] ??
    (column === "attributes" ? (kind === "product" ? "text[]" : "jsonb") : "text");
  await db.query(
    `insert into ${kind} (project_id, ${columns.join(", ")})
     select $1, ${columns.join(", ")}
       from jsonb_to_recordset($2::jsonb)
            as row (${columns.map((column) => `${column} ${typeOf(column)}`).join(", ")})
     on conflict (project_id, id) do update
        set ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}`,
    [
      entries.projectId,
      JSON.stringify(entries.rows, (_, value: unknown) =>
        typeof value === "bigint" ? value.toString() : value,
      ),
    ],
  );
}

export async function deleteEntry(
  db: Queryable,
  kind: Kind,
  entry: { readonly projectId: string; readonly id: string },
): Promise<void> {
  await db.query(`delete from ${kind} where project_id = $1 and id = $2`, [
    entry.projectId,
    entry.id,
  ]);
}

export type EntryListing = {
  readonly projectId: string;
  /** Lists only the SKUs of this product. */
  readonly productId?: string;
  readonly created: TimeRange;
  /** Sort column; a leading `-` sorts descending. */
  readonly order: string;
  readonly limit: number;
  readonly offset: number;
};

const SORTABLE: Readonly<Record<string, string>> = {
  created_at: "created_at",
  updated_at: "coalesce(updated_at, created_at)",
};

/** One page and the total number of entries. Ties are sorted by id. */
export async function listEntries<Name extends Kind>(
  db: ProjectQueryable,
  kind: Name,
  listing: EntryListing,
): Promise<{ readonly rows: readonly Rows[Name][]; readonly total: bigint }> {
  const { projectId, productId, created, order, limit, offset } = listing;
  const values: unknown[] = [projectId];
  const conditions = ["project_id = $1"];
  if (productId !== undefined) conditions.push(`product_id = $${values.push(productId)}`);
  conditions.push(...timeRangeConditions("created_at", created, values));
  return readPage<Rows[Name]>(db, {
    projectId,
    columns: COLUMNS[kind].join(", "),
    from: `from ${kind} where ${conditions.join(" and ")}`,
    order: sortingOf(order, SORTABLE),
    values,
    limit,
    offset,
  });
}

/** Maximum number of SKUs displayed within a product. */
const MAX_DISPLAYED_SKUS = 100;

export type SkusOfProduct = { readonly rows: readonly SkuRow[]; readonly total: bigint };

/** The oldest SKUs of each product. */
export async function findSkusOf(
  db: Queryable,
  projectId: string,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, SkusOfProduct>> {
  if (productIds.length === 0) return new Map();
  // A range with its order, which only the index of products provides: beside one product with most of the SKUs, PostgreSQL
  // would read all of them for each product.
  const ofProduct = `from sku where project_id = $1 and product_id between p.id and p.id
                     order by product_id, created_at, id`;
  const { rows } = await db.query<SkuRow & { total: bigint }>({
    planning: "indexLookups",
    text: `with p as materialized (
       select id, (select count(*) from (select ${ofProduct} offset 0) as counted) as total from unnest($2::text[]) as p (id)
     )
     select s.*, p.total
       from p
      cross join lateral (
            select ${COLUMNS.sku.join(", ")} ${ofProduct}
             limit ${MAX_DISPLAYED_SKUS}) as s
      order by s.product_id, s.created_at, s.id`,
    values: [projectId, [...new Set(productIds)]],
  });
  const skus = new Map<string, { rows: SkuRow[]; total: bigint }>();
  for (const row of rows) {
    const known = skus.get(row.product_id);
    if (known === undefined) skus.set(row.product_id, { rows: [row], total: row.total });
    else known.rows.push(row);
  }
  return skus;
}

export async function findSkuIdsOf(
  db: Queryable,
  projectId: string,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (productIds.length === 0) return new Map();
  const { rows } = await db.query<{ product_id: string; ids: readonly string[] }>(
    `select product_id, array_agg(id order by id) as ids from sku
      where project_id = $1 and product_id = any($2::text[])
      group by product_id`,
    [projectId, productIds],
  );
  return new Map(rows.map(({ product_id, ids }) => [product_id, ids]));
}

import type { JsonObject } from "@bufbuild/protobuf";
import {
  compileFilters,
  type FilterFields,
  jsonMember,
  type TimeContext,
  type TimeRange,
  timeRangeConditions,
} from "@scrip/filters";
import {
  type CursorTimestamp,
  listReads,
  type ListSource,
  type ProjectQueryable,
  type Queryable,
  readPage,
  readTimePage,
} from "@scrip/postgres";

import { sortingOf } from "./sorting.ts";

export type CollectionRow = {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
  /** In the order they were listed. */
  readonly entries: readonly CollectionEntry[];
} & (
  | { readonly type: "STATIC"; readonly filter: null }
  | { readonly type: "AUTO_UPDATE"; readonly filter: JsonObject }
);

export type CollectionEntry = {
  readonly object: "product" | "sku";
  readonly id: string;
  /** For a SKU. */
  readonly product_id: string | null;
};

/**
 * Number of collections of the project. Serializes concurrent creations until the transaction ends,
 * so that the limit holds.
 */
export async function countCollections(tx: Queryable, projectId: string): Promise<bigint> {
  await tx.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [
    `product_collection ${projectId}`,
  ]);
  const { rows } = await tx.query<{ total: bigint }>(
    "select count(*) as total from product_collection where project_id = $1",
    [projectId],
  );
  return rows[0]?.total ?? 0n;
}

export async function insertCollection(
  tx: Queryable,
  projectId: string,
  row: CollectionRow,
): Promise<void> {
  const { id, name, type, filter, created_at, entries } = row;
  await tx.query(
    `insert into product_collection (project_id, id, name, type, filter, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [projectId, id, name, type, filter, created_at],
  );
  if (entries.length === 0) return;
  const idsOf = (object: CollectionEntry["object"]): (string | null)[] =>
    entries.map((entry) => (entry.object === object ? entry.id : null));
  await tx.query(
    `insert into product_collection_entry (project_id, collection_id, position, product_id, sku_id)
     select $1, $2, position, product_id, sku_id
       from unnest($3::text[], $4::text[]) with ordinality as entry (product_id, sku_id, position)`,
    [projectId, id, idsOf("product"), idsOf("sku")],
  );
}

const COLUMNS = `c.project_id, c.id, c.name, c.type, c.filter, c.created_at,
  coalesce(
    (select jsonb_agg(
              jsonb_build_object(
                'object', case when e.sku_id is null then 'product' else 'sku' end,
                'id', coalesce(e.sku_id, e.product_id),
                'product_id', s.product_id)
              order by e.position)
       from product_collection_entry e
       left join sku s on s.project_id = e.project_id and s.id = e.sku_id
      where e.project_id = c.project_id and e.collection_id = c.id),
    '[]') as entries`;

export async function findCollection(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<CollectionRow | undefined> {
  return (await findCollections(db, [{ projectId, key: id }]))[0];
}

/** For the cache: collections of any projects, in the order of the keys. */
export async function findCollections(
  db: Queryable,
  keys: readonly { readonly projectId: string; readonly key: string }[],
): Promise<readonly (CollectionRow | undefined)[]> {
  const { rows } = await db.query<CollectionRow & { project_id: string }>(
    `select ${COLUMNS} from product_collection c
      where (c.project_id, c.id) in (select * from unnest($1::text[], $2::text[]))`,
    [keys.map(({ projectId }) => projectId), keys.map(({ key }) => key)],
  );
  const found = new Map(rows.map((row) => [JSON.stringify([row.project_id, row.id]), row]));
  return keys.map(({ projectId, key }) => found.get(JSON.stringify([projectId, key])));
}

/** Ids of the collections of each project, in the order of the projects. */
export async function findCollectionIds(
  db: Queryable,
  projectIds: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const { rows } = await db.query<{ project_id: string; ids: readonly string[] }>(
    `select project_id, array_agg(id order by id) as ids
       from product_collection
      where project_id = any($1::text[])
      group by project_id`,
    [[...new Set(projectIds)]],
  );
  const found = new Map(rows.map((row) => [row.project_id, row.ids]));
  return projectIds.map((projectId) => found.get(projectId) ?? []);
}

export type CollectionListing = {
  readonly projectId: string;
  readonly created: TimeRange;
  /** Sort column; a leading `-` sorts descending. */
  readonly order: string;
  readonly limit: number;
  readonly offset: number;
};

const SORTABLE = { created_at: "created_at", name: "name" };

export async function listCollections(
  db: ProjectQueryable,
  { projectId, created, order, limit, offset }: CollectionListing,
): Promise<{ readonly rows: readonly CollectionRow[]; readonly total: bigint }> {
  const values: unknown[] = [projectId];
  const conditions = ["c.project_id = $1", ...timeRangeConditions("c.created_at", created, values)];
  return readPage<CollectionRow>(db, {
    projectId,
    columns: COLUMNS,
    from: `from product_collection c where ${conditions.join(" and ")}`,
    order: sortingOf(order, SORTABLE),
    values,
    limit,
    offset,
  });
}

export async function deleteCollection(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<"deleted" | "not_found"> {
  const { rowCount } = await tx.query(
    "delete from product_collection where project_id = $1 and id = $2",
    [projectId, id],
  );
  return rowCount === 1 ? "deleted" : "not_found";
}

/** Ids of the collections that list the product itself. */
export async function findCollectionsOfProduct(
  db: Queryable,
  projectId: string,
  productId: string,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ collection_id: string }>(
    `select distinct collection_id from product_collection_entry
      where project_id = $1 and product_id = $2
      order by collection_id`,
    [projectId, productId],
  );
  return rows.map(({ collection_id }) => collection_id);
}

export type CollectionProductRow = {
  readonly object: "product" | "sku";
  readonly id: string;
  readonly source_id: string | null;
  readonly product_id: string | null;
  readonly created_at: Date;
};

/** Products and SKUs as one table with the fields that filters read. */
const ITEMS = `
  (select project_id, 'product' as object, id, null::text as product_id, source_id, name, price,
          attributes, image_url, metadata, created_at, updated_at
     from product
    where project_id = $1
    union all
   select s.project_id, 'sku', s.id, s.product_id, s.source_id, s.sku, coalesce(s.price, p.price),
          array(select jsonb_object_keys(s.attributes)), s.image_url, s.metadata, s.created_at,
          s.updated_at
     from sku s
     join product p on p.project_id = s.project_id and p.id = s.product_id
    where s.project_id = $1) i`;

/** Must match the fields of domain/catalogue/product-collections.ts. */
const fields: FilterFields = {
  named: {
    id: { type: "text", sql: "i.id" },
    product_id: { type: "text", sql: "i.product_id" },
    source_id: { type: "text", sql: "i.source_id" },
    name: { type: "text", sql: "i.name" },
    price: { type: "number", sql: "i.price" },
    object: { type: "text", sql: "i.object" },
    attributes: { type: "array", sql: "i.attributes" },
    image_url: { type: "text", sql: "i.image_url" },
    skus: {
      type: "array",
      sql: "array(select k.id from sku k where k.project_id = i.project_id and k.product_id = i.id)",
    },
    created_at: { type: "date", sql: "i.created_at" },
    updated_at: { type: "date", sql: "i.updated_at" },
  },
  prefixed: { "metadata.": jsonMember("i.metadata") },
};

/** One page of the collection's products and SKUs, and their total number. */
export async function listCollectionProducts(
  db: ListSource,
  collection: CollectionRow,
  listing: CollectionListing & {
    readonly moment: TimeContext;
    /** Only items behind this cursor; all of them are counted. */
    readonly startingAfter: CursorTimestamp | undefined;
  },
): Promise<{
  readonly rows: readonly CollectionProductRow[];
  readonly total: bigint;
  readonly hasMore: boolean;
  readonly moreStartingAfter: CursorTimestamp | undefined;
}> {
  const { projectId, moment, created, order, startingAfter, limit, offset } = listing;
  const values: unknown[] = [projectId];
  const members = membersOf(collection, moment, values);
  const conditions = [`(${members})`, ...timeRangeConditions("i.created_at", created, values)];
  return readTimePage<CollectionProductRow>(listReads(db, projectId), {
    from: `from ${ITEMS} where ${conditions.join(" and ")}`,
    values,
    order: {
      column: "i.created_at",
      id: "i.id",
      descending: order.startsWith("-"),
      nullable: false,
    },
    timeOf: (row) => row.created_at,
    startingAfter,
    limit,
    offset,
    select: (page) => `select i.object, i.id, i.source_id, i.product_id, i.created_at ${page}`,
  });
}

function membersOf(collection: CollectionRow, moment: TimeContext, values: unknown[]): string {
  if (collection.type === "STATIC") {
    return `i.id = any($${values.push(collection.entries.map(({ id }) => id))}::text[])`;
  }
  const compiled = compileFilters(collection.filter, { ...moment, fields, values });
  if (compiled.kind === "violation")
    throw new Error(`the stored filter of a collection is invalid: ${compiled.text}`);
  return compiled.text;
}

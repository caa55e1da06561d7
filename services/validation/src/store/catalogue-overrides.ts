import type { JsonObject } from "@bufbuild/protobuf";
import type { Queryable } from "@scrip/postgres";

/** The override of a product or SKU by an order line; null leaves a field unchanged. */
export type Override = {
  /** Id of an existing entry, or source id of a new one. */
  readonly key: string;
  /** The entry as it was read. */
  readonly known:
    | {
        readonly id: string;
        readonly text: string | null;
        readonly price: bigint | null;
        readonly metadata: JsonObject;
      }
    | undefined;
  /** Name of a product, label of a SKU. */
  readonly text: string | null;
  readonly price: bigint | null;
  readonly metadata: JsonObject;
};

/** `product` is the key of the product that a new SKU belongs to. */
export type SkuOverride = Override & { readonly product: string };

type WithId = { readonly id: string };

export type Overrides = {
  readonly projectId: string;
  readonly at: Date;
  readonly products: readonly (Override & WithId)[];
  readonly skus: readonly (SkuOverride & WithId)[];
};

/** Ids of created products and SKUs by source id. */
export type CreatedEntries = {
  readonly products: ReadonlyMap<string, string>;
  readonly skus: ReadonlyMap<string, string>;
};

/**
 * Writes one statement per kind for existing and one for new entries. Rows are locked in the order
 * of their keys, products before SKUs, so that concurrent orders cannot deadlock.
 */
export async function saveOverrides(
  tx: Queryable,
  { projectId, at, products, skus }: Overrides,
): Promise<CreatedEntries> {
  const context = { projectId, at };
  const saved = await saveProducts(tx, context, products);
  await update(tx, { ...context, kind: "sku", text: "sku" }, skus.filter(isKnown));
  const fresh = sorted(skus).flatMap((sku) => {
    // If the product neither exists nor is created by this order, the SKU is not created.
    const productId = saved.get(sku.product) ?? sku.product;
    return isKnown(sku) ? [] : [{ ...sku, productId }];
  });
  if (fresh.length === 0) return { products: saved, skus: new Map() };
  const { rows } = await tx.query<CreatedRow>(
    `insert into sku (project_id, id, source_id, sku, price, metadata, product_id, created_at)
     select $1, u.id, u.source_id, u.text, u.price, u.metadata::jsonb, p.id, $2
       from unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[])
            as u (id, source_id, text, price, metadata, product_id)
       join product p on p.project_id = $1 and p.id = u.product_id
      where ${NOT_IN_BIN("sku")}
      order by u.source_id
     on conflict (project_id, source_id) do update
        set sku = coalesce(excluded.sku, sku.sku), ${MERGED("sku")}
     returning id, source_id`,
    [projectId, at, ...columnsOf(fresh), fresh.map(({ productId }) => productId)],
  );
  return { products: saved, skus: idsBySourceId(rows) };
}

type CreatedRow = { readonly id: string; readonly source_id: string };

const idsBySourceId = (rows: readonly CreatedRow[]): ReadonlyMap<string, string> =>
  new Map(rows.map(({ id, source_id }) => [source_id, id]));

type Context = { readonly projectId: string; readonly at: Date };

const isKnown = ({ known }: Override): boolean => known !== undefined;

const sorted = <One extends Override>(overrides: readonly One[]): readonly One[] =>
  overrides.toSorted((a, b) => (a.key < b.key ? -1 : 1));

const MERGED = (table: string): string =>
  `price = coalesce(excluded.price, ${table}.price),
   metadata = ${table}.metadata || excluded.metadata,
   updated_at = excluded.created_at`;

/** The source id of an entry in the bin is reserved, and not created again. */
const NOT_IN_BIN = (kind: string): string =>
  `not exists (select from binned_entry b
                where b.project_id = $1 and b.kind = '${kind}' and b.source_id = u.source_id)`;

const columnsOf = (overrides: readonly (Override & WithId)[]): readonly unknown[] => [
  overrides.map(({ id }) => id),
  overrides.map(({ key }) => key),
  overrides.map(({ text }) => text),
  overrides.map(({ price }) => price),
  overrides.map(({ metadata }) => JSON.stringify(metadata)),
];

/** Returns the ids of created products by source id. */
async function saveProducts(
  tx: Queryable,
  { projectId, at }: Context,
  products: Overrides["products"],
): Promise<ReadonlyMap<string, string>> {
  await update(tx, { projectId, at, kind: "product", text: "name" }, products.filter(isKnown));
  const fresh = sorted(products).filter((product) => !isKnown(product));
  if (fresh.length === 0) return new Map();
  const { rows } = await tx.query<CreatedRow>(
    `insert into product (project_id, id, source_id, name, price, metadata, created_at)
     select $1, id, source_id, text, price, metadata::jsonb, $2
       from unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[])
            as u (id, source_id, text, price, metadata)
      where ${NOT_IN_BIN("product")}
      order by source_id
     on conflict (project_id, source_id) do update
        set name = coalesce(excluded.name, product.name), ${MERGED("product")}
     returning id, source_id`,
    [projectId, at, ...columnsOf(fresh)],
  );
  return idsBySourceId(rows);
}

async function update(
  tx: Queryable,
  { projectId, at, kind, text }: Context & { readonly kind: string; readonly text: string },
  overrides: readonly (Override & WithId)[],
): Promise<void> {
  if (overrides.length === 0) return;
  const ids = overrides.map(({ id }) => id);
  await tx.query(
    `select from ${kind} where project_id = $1 and id = any($2::text[])
      order by id for no key update`,
    [projectId, ids],
  );
  await tx.query(
    `update ${kind} as entry
        set ${text} = coalesce(u.text, entry.${text}),
            price = coalesce(u.price, entry.price),
            metadata = entry.metadata || u.metadata::jsonb,
            updated_at = $2
       from unnest($3::text[], $4::text[], $5::bigint[], $6::text[])
            as u (id, text, price, metadata)
      where entry.project_id = $1 and entry.id = u.id`,
    [
      projectId,
      at,
      ids,
      overrides.map((each) => each.text),
      overrides.map(({ price }) => price),
      overrides.map(({ metadata }) => JSON.stringify(metadata)),
    ],
  );
}

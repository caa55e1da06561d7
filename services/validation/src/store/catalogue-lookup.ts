import type { JsonObject } from "@bufbuild/protobuf";
import { type ArrayValue, type Queryable, textArray } from "@scrip/postgres";

/** Names to look up; each is an id or a source id. */
export type CatalogueQuery = {
  readonly projectId: string;
  readonly skus: readonly string[];
  readonly products: readonly string[];
};

/** Found entries by id or source id; ids take precedence. */
export type Catalogue = {
  readonly sku: (name: string) => FoundSku | undefined;
  readonly product: (name: string) => FoundProduct | undefined;
};

type Entry = {
  readonly id: string;
  readonly source_id: string | null;
  /** For a SKU, its label. */
  readonly name: string | null;
  readonly price: bigint | null;
  readonly image_url: string | null;
  readonly metadata: JsonObject;
  /** Epoch milliseconds: parsing dates is slow, and few requests need them. */
  readonly created_ms: number;
  readonly updated_ms: number | null;
};

export type FoundProduct = Entry & {
  readonly object: "product";
  /** Names of the attributes that its SKUs have. */
  readonly attributes: readonly string[];
};

export type FoundSku = Entry & {
  readonly object: "sku";
  readonly product_id: string;
  readonly attributes: JsonObject;
};

type Row = (FoundProduct | FoundSku) & { readonly project_id: string };

/**
 * Finds SKUs, products and the products of the SKUs for all queries of a batch. A result may
 * contain entries that other queries of the same project requested.
 */
export async function findInCatalogue(
  db: Queryable,
  queries: readonly CatalogueQuery[],
): Promise<readonly Catalogue[]> {
  const { rows } = await db.query<Row>({
    name: "find_in_catalogue",
    planning: "indexLookups",
    text: FIND_IN_CATALOGUE,
    values: [...namesOf(queries, "skus"), ...namesOf(queries, "products")],
  });
  const found = Map.groupBy(rows, ({ project_id }) => project_id);
  const catalogues = new Map(
    [...found].map(([projectId, own]) => [projectId, catalogueOf(own)] as const),
  );
  return queries.map(({ projectId }) => catalogues.get(projectId) ?? NOTHING_FOUND);
}

export async function findOneInCatalogue(db: Queryable, query: CatalogueQuery): Promise<Catalogue> {
  const [catalogue] = await findInCatalogue(db, [query]);
  return catalogue ?? NOTHING_FOUND;
}

/** Distinct projects and names as two array parameters. */
function namesOf(
  queries: readonly CatalogueQuery[],
  kind: "skus" | "products",
): readonly ArrayValue[] {
  const names = new Map<string, Set<string>>();
  for (const { projectId, [kind]: some } of queries) {
    const own = names.get(projectId) ?? new Set();
    for (const name of some) own.add(name);
    names.set(projectId, own);
  }
  const pairs = [...names].flatMap(([projectId, own]) => [...own].map((name) => [projectId, name]));
  return [
    textArray(pairs.map(([projectId]) => projectId ?? "")),
    textArray(pairs.map(([, name]) => name ?? "")),
  ];
}

/** Indexes the rows by id and source id. */
function catalogueOf(rows: readonly Row[]): Catalogue {
  const skus = new Map<string, FoundSku>();
  const products = new Map<string, FoundProduct>();
  for (const column of ["source_id", "id"] as const) {
    for (const row of rows) {
      const name = row[column];
      if (name === null) continue;
      if (row.object === "sku") skus.set(name, row);
      else products.set(name, row);
    }
  }
  return { sku: (name) => skus.get(name), product: (name) => products.get(name) };
}

const NOTHING_FOUND = catalogueOf([]);

/**
 * Rows of each name, written as ranges and sorted, so that only the index of the column fits: the
 * cached plan of a small table would read all rows of the project.
 * services/decisions/0021-index-lookups-and-grouped-events.md
 */
const rowsOf = (table: "sku" | "product", columns: readonly ("id" | "source_id")[], name: string) =>
  columns
    .map(
      (column) => `
        (select entry.* from ${table} as entry
          where entry.project_id = name.project_id and entry.${column} between ${name} and ${name}
          order by entry.${column})`,
    )
    .join(" union all ");

const shown = (object: "sku" | "product"): string =>
  `'${object}' as object, entry.project_id, entry.id, entry.source_id, entry.price,
   entry.image_url, entry.metadata,
   (extract(epoch from entry.created_at) * 1000)::float8 as created_ms,
   (extract(epoch from entry.updated_at) * 1000)::float8 as updated_ms,
   ${object === "sku" ? "entry.sku" : "entry.name"} as name,
   ${object === "sku" ? "entry.product_id" : "null"} as product_id,
   ${object === "sku" ? "entry.attributes" : "to_jsonb(entry.attributes)"} as attributes`;

const FIND_IN_CATALOGUE = `
  with found_sku as materialized (
    select ${shown("sku")}
      from unnest($1::text[], $2::text[]) as name (project_id, value)
     cross join lateral (${rowsOf("sku", ["id", "source_id"], "name.value")}) as entry)
  select * from found_sku
  union all
  select ${shown("product")}
    from unnest($3::text[], $4::text[]) as name (project_id, value)
   cross join lateral (${rowsOf("product", ["id", "source_id"], "name.value")}) as entry
  union all
  select ${shown("product")}
    from (select distinct project_id, product_id from found_sku) as name
   cross join lateral (${rowsOf("product", ["id"], "name.product_id")}) as entry`;

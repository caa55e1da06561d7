import type { Queryable } from "@scrip/postgres";

import type { Kind } from "./catalogue.ts";

type EntryRef = { readonly projectId: string; readonly id: string };

/** Reserves the source ids of an entry and, for a product, of its SKUs, until `purgeBinned`. */
export async function reserveSourceIds(
  tx: Queryable,
  kind: Kind,
  { projectId, id }: EntryRef,
): Promise<void> {
  const skus = "select project_id, id, 'sku', source_id, product_id from sku";
  await tx.query(
    `insert into binned_entry (project_id, id, kind, source_id, product_id)
     ${
       kind === "sku"
         ? `${skus} where project_id = $1 and id = $2`
         : `select project_id, id, 'product', source_id, null from product
             where project_id = $1 and id = $2
            union all
            ${skus} where project_id = $1 and product_id = $2`
     }`,
    [projectId, id],
  );
}

/** Which of the source ids belong to entries in the bin. */
export async function findReservedSourceIds(
  db: Queryable,
  kind: Kind,
  { projectId, sourceIds }: { readonly projectId: string; readonly sourceIds: readonly string[] },
): Promise<ReadonlySet<string>> {
  if (sourceIds.length === 0) return new Set();
  const { rows } = await db.query<{ source_id: string }>(
    `select source_id from binned_entry
      where project_id = $1 and kind = $2 and source_id = any($3::text[])`,
    [projectId, kind, sourceIds],
  );
  return new Set(rows.map(({ source_id }) => source_id));
}

/** Frees the source ids of an entry in the bin, and of the SKUs of a product. */
export async function purgeBinned(db: Queryable, { projectId, id }: EntryRef): Promise<void> {
  await db.query(
    "delete from binned_entry where project_id = $1 and (id = $2 or product_id = $2)",
    [projectId, id],
  );
}

import { type Queryable, type ReadChunk, repeatUntilNoRows, walkChunks } from "@scrip/postgres";

import { copyDefinitionVersions } from "./campaign-vouchers.ts";
import { keyFrom, keyOf } from "./redemption-keys.ts";

export type DeletedCustomer = { readonly projectId: string; readonly customerId: string };

/** The ids of a chunk of vouchers that the customer holds, in the order that everybody locks in. */
export async function listHeldVouchers(
  db: Queryable,
  { projectId, customerId, limit }: DeletedCustomer & { readonly limit: number },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from (
       select id from voucher
        where project_id = $1 and holder_id = $2 and deleted_at is null
        limit $3) held
      order by id`,
    [projectId, customerId, limit],
  );
  return rows.map(({ id }) => id);
}

/** Removes the holder; everything else stays. The usages must be locked. */
export async function releaseVouchers(
  tx: Queryable,
  {
    projectId,
    customerId,
    ids,
    now,
  }: DeletedCustomer & { readonly ids: readonly string[]; readonly now: number },
): Promise<void> {
  await tx.query(
    `update voucher
        set holder_id = null,
            referrer_id = nullif(referrer_id, $2),
            updated_at = $4,
            definition_version = definition_version + 1
      where project_id = $1 and id = any($3::text[]) and holder_id = $2`,
    [projectId, customerId, ids, new Date(now)],
  );
  await tx.query(
    `delete from redeemable_holder
      where project_id = $1 and customer_id = $2 and voucher_id = any($3::text[])`,
    [projectId, customerId, ids],
  );
  await copyDefinitionVersions(tx, projectId, ids);
}

/** Rows that one statement changes: a customer may have hundreds of thousands. */
const CHUNK = 1_000;

/**
 * Deletes the remaining holders, also those of deleted vouchers. A voucher that was published to the customer
 * concurrently keeps its holder.
 */
export async function deleteHoldings(
  db: Queryable,
  { projectId, customerId }: DeletedCustomer,
): Promise<void> {
  await repeatUntilNoRows(() =>
    db.query(
      `with held as (
         delete from redeemable_holder
          where project_id = $1 and id = any(array(
                select h.id from redeemable_holder as h
                 where h.project_id = $1 and h.customer_id = $2
                   and not exists (
                       select from voucher as v
                        where v.project_id = $1 and v.id = h.voucher_id
                          and v.holder_id = $2 and v.deleted_at is null)
                 limit ${CHUNK}))
         returning voucher_id
       ), released as (
         update voucher
            set holder_id = null,
                referrer_id = nullif(referrer_id, $2)
          where project_id = $1 and id = any(array(select voucher_id from held))
            and holder_id = $2 and deleted_at is not null
       )
       select from held`,
      [projectId, customerId],
    ),
  );
}

/** The tracking id is derived from the source id of the customer; publications keep the id only. */
export async function anonymizePublications(
  db: Queryable,
  { projectId, customerId }: DeletedCustomer,
): Promise<void> {
  // Each chunk begins at the time of the one before it: those that are done stay in the index.
  await walkChunks({ start: "-infinity", size: CHUNK }, async (after) => {
    const { rows } = await db.query<ReadChunk<string>>(
      `with chunk as (
         select id, created_at from publication
          where project_id = $1 and customer_id = $2 and created_at >= $3::timestamptz
            and tracking_id is not null
          order by created_at
          limit ${CHUNK}
       ), anonymous as (
         update publication set tracking_id = null
          where project_id = $1 and id = any(array(select id from chunk))
       )
       select max(created_at)::text as last, count(*)::int as count from chunk`,
      [projectId, customerId, after],
    );
    return rows[0];
  });
}

/**
 * Keeps redemptions and rollbacks, and removes the customer and the order from them. Rollbacks first, because they are
 * found through their redemptions.
 */
export async function anonymizeRedemptions(
  db: Queryable,
  { projectId, customerId }: DeletedCustomer,
): Promise<void> {
  await repeatUntilNoRows(async () => {
    const { rows } = await db.query<{ id: string }>(
      `select id from redemption
        where ${keyOf("redemption", "customer_id")} = ${keyFrom("$1", "$2")} and customer_id is not null
        limit ${CHUNK}`,
      [projectId, customerId],
    );
    const values = [projectId, customerId, rows.map(({ id }) => id).toSorted()];
    await db.query(
      `update redemption_rollback set customer_id = null, tracking_id = null, order_message = null
        where project_id = $1 and customer_id = $2 and redemption_id = any($3::text[])`,
      values,
    );
    return db.query(
      `update redemption
          set customer_id = null, customer_message = null, tracking_id = null, order_message = null
        where project_id = $1 and customer_id = $2 and id = any($3::text[])`,
      values,
    );
  });
}

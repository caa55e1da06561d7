import type { Queryable } from "@scrip/postgres";

import { ownerToBytes } from "./activities.ts";

export type DeletedCustomerKey = { readonly projectId: string; readonly customerId: string };

/** Rows of each table that one call deletes: a customer may have hundreds of thousands. */
const PART = 2_000;

/** By their place: without statistics, Postgres might look up the keys in an index that has only the customer. */
const TABLES = [
  { table: "customer_redemptions", ofCustomer: "customer_id = $2" },
  { table: "customer_order", ofCustomer: "customer_id = $2" },
  { table: "custom_event", ofCustomer: "customer_id = $2" },
  { table: "awaited_card", ofCustomer: "customer_id = $2" },
  { table: "referral", ofCustomer: "referee_id = $2" },
  { table: "referral", ofCustomer: "referrer_id = $2" },
];

/** Tables with partitions, in which a place is not unique; their primary key is the owner and the id. */
const ACTIVITIES = [
  { table: "customer_activity", ownerOf: ownerToBytes },
  { table: "activity", ownerOf: (customerId: string) => customerId },
];

/**
 * Deletes what is stored about a customer who does not exist any more, a part of it with each call. Returns whether there was
 * any. Counts are deleted after the customer: consumers lock the customer while they count, and have finished by then.
 */
export async function deletePartOfCustomer(
  db: Queryable,
  customer: DeletedCustomerKey,
): Promise<boolean> {
  let wasAny = await deletePartOfActivities(db, customer);
  for (const { table, ofCustomer } of TABLES) {
    const where = `where project_id = $1 and ${ofCustomer}`;
    const { rowCount } = await db.query(
      `delete from ${table} ${where} and ctid = any(array(select ctid from ${table} ${where} limit $3))`,
      [customer.projectId, customer.customerId, PART],
    );
    wasAny ||= rowCount !== 0;
  }
  return wasAny;
}

/** The same for the activities only. */
export async function deletePartOfActivities(
  db: Queryable,
  { projectId, customerId }: DeletedCustomerKey,
): Promise<boolean> {
  let wasAny = false;
  for (const { table, ownerOf } of ACTIVITIES) {
    const where = "where project_id = $1 and owner_id = $2";
    const { rowCount } = await db.query(
      `delete from ${table} ${where} and id = any(array(select id from ${table} ${where} order by id limit $3))`,
      [projectId, ownerOf(customerId), PART],
    );
    wasAny ||= rowCount !== 0;
  }
  return wasAny;
}

/** The paid orders and custom events of a customer. */
export async function countOfCustomer(
  db: Queryable,
  { projectId, customerId }: DeletedCustomerKey,
): Promise<{ readonly orders: bigint; readonly events: bigint }> {
  const { rows } = await db.query<{ orders: bigint; events: bigint }>(
    `select (select count(*) from customer_order where project_id = $1 and customer_id = $2 and paid) as orders,
            (select count(*) from custom_event where project_id = $1 and customer_id = $2) as events`,
    [projectId, customerId],
  );
  return rows[0] ?? { orders: 0n, events: 0n };
}

import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Queryable } from "@scrip/postgres";
import { type Order, OrderSchema, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";

export type OrderKey = { readonly column: "id" | "source_id"; readonly value: string };

export async function findOrder(
  db: Queryable,
  projectId: string,
  key: OrderKey,
): Promise<Order | undefined> {
  const { rows } = await db.query<{ document: Buffer }>(
    `select document
       from shop_order
      where project_id = $1 and ${key.column} = $2 and document is not null`,
    [projectId, key.value],
  );
  return rows[0] && fromBinary(OrderSchema, rows[0].document);
}

/** How long a claim holds when its request dies: longer than any request may take. */
const CLAIM_SECONDS = 15;

export type Claim = {
  readonly projectId: string;
  readonly key: OrderKey;
  /** Who claims: the idempotency key, or the request. */
  readonly by: string;
  /** The id of the order when the source id is new. */
  readonly newId: string;
  readonly at: Date;
};

export type ClaimOutcome =
  | { readonly kind: "claimed"; readonly id: string; readonly order: Order | null }
  /** Another request has the order now. */
  | { readonly kind: "taken"; readonly by: string }
  | { readonly kind: "not_found" };

/**
 * Takes an order for one redemption, so that two of them never calculate on the same figures
 * (spec/validation-and-redemption.md §7.7). An unknown source id gets its id here.
 */
export async function claimOrder(db: Queryable, claim: Claim): Promise<ClaimOutcome> {
  const { projectId, key, by } = claim;
  if (key.column === "source_id") {
    const { rowCount } = await db.query(
      `insert into shop_order (project_id, id, source_id, claimed_by, claimed_until, created_at)
       values ($1, $2, $3, $4, now() + interval '${CLAIM_SECONDS} seconds', $5)
       on conflict (project_id, source_id) do nothing`,
      [projectId, claim.newId, key.value, by, claim.at],
    );
    if (rowCount === 1) return { kind: "claimed", id: claim.newId, order: null };
  }
  const { rows } = await db.query<{ id: string; document: Buffer | null }>(
    `update shop_order
        set claimed_by = $3, claimed_until = now() + interval '${CLAIM_SECONDS} seconds'
      where project_id = $1 and ${key.column} = $2
        and (claimed_until is null or claimed_until < now())
        and (document is not null or source_id is not null)
      returning id, document`,
    [projectId, key.value, by],
  );
  const row = rows[0];
  if (row !== undefined) {
    const order = row.document === null ? null : fromBinary(OrderSchema, row.document);
    if (order === null && key.column === "id") return { kind: "not_found" };
    return { kind: "claimed", id: row.id, order };
  }
  const { rows: others } = await db.query<{ claimed_by: string | null }>(
    `select claimed_by from shop_order where project_id = $1 and ${key.column} = $2`,
    [projectId, key.value],
  );
  return others[0] === undefined
    ? { kind: "not_found" }
    : { kind: "taken", by: others[0].claimed_by ?? "" };
}

/** Gives a claim back when nothing came of it. */
export async function releaseOrder(
  db: Queryable,
  claim: { readonly projectId: string; readonly id: string; readonly by: string },
): Promise<void> {
  const values = [claim.projectId, claim.id, claim.by];
  await db.query(
    `delete from shop_order
      where project_id = $1 and id = $2 and claimed_by = $3 and document is null`,
    values,
  );
  await db.query(
    `update shop_order
        set claimed_by = null, claimed_until = null
      where project_id = $1 and id = $2 and claimed_by = $3`,
    values,
  );
}

export type StoredOrder = { readonly projectId: string; readonly order: Order; readonly at: Date };

/** Writes orders as they are after their redemptions, and ends the claims. Repeatable. */
export async function saveOrders(db: Queryable, orders: readonly StoredOrder[]): Promise<void> {
  const rows = lastStates(orders);
  await db.query({
    name: "save_orders",
    text: `insert into shop_order as stored
             (project_id, id, source_id, status, customer_id, document, created_at)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
                                $6::bytea[], $7::timestamptz[])
           on conflict (project_id, id) do update
              set status = excluded.status,
                  customer_id = excluded.customer_id,
                  document = excluded.document,
                  updated_at = excluded.created_at,
                  claimed_by = null,
                  claimed_until = null`,
    values: columnsOf(rows),
  });
}

/**
 * Writes orders that are missing, or that are stored in a state from before their redemption. A claim
 * is left to its owner: another request may calculate on the order by now. Repeatable.
 */
export async function repairOrders(db: Queryable, orders: readonly StoredOrder[]): Promise<void> {
  await db.query({
    name: "repair_orders",
    // The rows that need nothing drop out before the insert, which would lock and so write them.
    text: `insert into shop_order as stored
             (project_id, id, source_id, status, customer_id, document, created_at)
           select made.*
             from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
                         $6::bytea[], $7::timestamptz[])
                  as made (project_id, id, source_id, status, customer_id, document, made_at)
            where not exists (
                  select from shop_order as known
                   where known.project_id = made.project_id and known.id = made.id
                     and known.document is not null
                     and coalesce(known.updated_at, known.created_at) >= made.made_at)
           on conflict (project_id, id) do update
              set status = excluded.status,
                  customer_id = excluded.customer_id,
                  document = excluded.document,
                  updated_at = excluded.created_at
            where stored.document is null
               or coalesce(stored.updated_at, stored.created_at) < excluded.created_at`,
    values: columnsOf(lastStates(orders)),
  });
}

/** One order is written once by a statement: the last state of it in the batch. */
const lastStates = (orders: readonly StoredOrder[]): StoredOrder[] => [
  ...new Map(orders.map((stored) => [`${stored.projectId} ${stored.order.id}`, stored])).values(),
];

const columnsOf = (rows: readonly StoredOrder[]): unknown[] => [
  rows.map(({ projectId }) => projectId),
  rows.map(({ order }) => order.id),
  rows.map(({ order }) => order.sourceId ?? null),
  rows.map(({ order }) => STATUS_NAMES[order.status ?? OrderStatus.CREATED] ?? "CREATED"),
  rows.map(({ order }) => order.customerId ?? null),
  rows.map(({ order }) => Buffer.from(toBinary(OrderSchema, order))),
  rows.map(({ at }) => at),
];

const STATUS_NAMES: Readonly<Record<number, string>> = {
  [OrderStatus.CREATED]: "CREATED",
  [OrderStatus.PAID]: "PAID",
  [OrderStatus.CANCELED]: "CANCELED",
  [OrderStatus.FULFILLED]: "FULFILLED",
};

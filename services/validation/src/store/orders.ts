import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { newId } from "@scrip/ids";
import { type Database, isUniqueViolation, type Queryable } from "@scrip/postgres";
import { type Order, OrderSchema, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";

import { ORDER_PAID, orderPaid, orderPaidKey, ORDERS_TOPIC } from "../events/order-paid.ts";

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

/**
 * Writes orders as they are after their redemptions or edits, and ends the claims. The first time that
 * an order is paid its event is written in the same statement. Repeatable.
 */
export async function saveOrders(db: Queryable, orders: readonly StoredOrder[]): Promise<void> {
  const rows = lastStates(orders);
  await db.query({
    name: "save_orders",
    text: `with made as (
             select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
                                  $6::bytea[], $7::timestamptz[], $8::timestamptz[], $9::text[],
                                  $10::text[], $11::bytea[])
                    as made (project_id, id, source_id, status, customer_id, document, created_at,
                             updated_at, paid_event_id, event_key, event)),
           saved as (
             insert into shop_order as stored
               (project_id, id, source_id, status, customer_id, document, created_at, updated_at,
                paid_event_id)
             select project_id, id, source_id, status, customer_id, document, created_at, updated_at,
                    paid_event_id
               from made
             on conflict (project_id, id) do update
                set status = excluded.status,
                    customer_id = excluded.customer_id,
                    document = excluded.document,
                    created_at = excluded.created_at,
                    updated_at = excluded.updated_at,
                    paid_event_id = coalesce(stored.paid_event_id, excluded.paid_event_id),
                    claimed_by = null,
                    claimed_until = null
             returning stored.paid_event_id)
           insert into outbox (project_id, id, topic, key, type, payload)
           select made.project_id, made.paid_event_id, '${ORDERS_TOPIC}', made.event_key,
                  '${ORDER_PAID}', made.event
             from made
             join saved using (paid_event_id)`,
    values: [...columnsOf(rows), ...eventColumnsOf(rows)],
  });
}

/**
 * Writes orders that are missing, or that are stored in a state from before their redemption, and the
 * events of paid ones that have none. A claim is left to its owner: another request may calculate on
 * the order by now. Repeatable.
 */
export async function repairOrders(db: Database, orders: readonly StoredOrder[]): Promise<void> {
  const wanting = await findWanting(db, lastStates(orders));
  if (wanting.length === 0) return;
  await db.transaction(async (tx) => {
    await writeOlder(tx, wanting);
    await announcePaid(
      tx,
      wanting.filter(({ order }) => order.status === OrderStatus.PAID),
    );
  });
}

/**
 * Writes orders of rollbacks that are not stored yet. The rollback tells by its entry in the order; by
 * their dates alone it and its redemption may be from the same instant. Repeatable.
 */
export async function repairRolledBackOrders(
  db: Queryable,
  orders: readonly StoredOrder[],
): Promise<void> {
  for (const one of orders) {
    const { projectId, order } = one;
    const stored = await findOrder(db, projectId, { column: "id", value: order.id ?? "" });
    const knows = Object.entries(order.redemptions).every(
      ([id, { rollbackId }]) =>
        rollbackId === undefined || stored?.redemptions[id]?.rollbackId === rollbackId,
    );
    if (!knows) await writeOlder(db, [one], "<=");
  }
}

/** The orders that are not stored as new as this, or are paid without an event; most need nothing. */
async function findWanting(
  db: Queryable,
  orders: readonly StoredOrder[],
): Promise<readonly StoredOrder[]> {
  const { rows } = await db.query<{ position: bigint }>({
    name: "find_wanting_orders",
    text: `select made.position
             from unnest($1::text[], $2::text[], $3::timestamptz[], $4::bool[]) with ordinality
                  as made (project_id, id, made_at, paid, position)
            where not exists (
                  select from shop_order as known
                   where known.project_id = made.project_id and known.id = made.id
                     and known.document is not null
                     and coalesce(known.updated_at, known.created_at) >= made.made_at
                     and (known.paid_event_id is not null or not made.paid))`,
    values: [
      orders.map(({ projectId }) => projectId),
      orders.map(({ order }) => order.id),
      orders.map(({ at }) => at),
      orders.map(({ order }) => order.status === OrderStatus.PAID),
    ],
  });
  return rows.flatMap(({ position }) => orders[Number(position) - 1] ?? []);
}

async function writeOlder(
  tx: Queryable,
  orders: readonly StoredOrder[],
  age: "<" | "<=" = "<",
): Promise<void> {
  await tx.query({
    name: age === "<" ? "repair_orders" : "repair_rolled_back_orders",
    text: `insert into shop_order as stored
             (project_id, id, source_id, status, customer_id, document, created_at, updated_at)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
                                $6::bytea[], $7::timestamptz[], $8::timestamptz[])
           on conflict (project_id, id) do update
              set status = excluded.status,
                  customer_id = excluded.customer_id,
                  document = excluded.document,
                  created_at = excluded.created_at,
                  updated_at = excluded.updated_at
            where stored.document is null
               or coalesce(stored.updated_at, stored.created_at) ${age} excluded.updated_at`,
    values: columnsOf(orders),
  });
}

/** Tells that the orders are paid, of those of which nobody has told it before. */
async function announcePaid(tx: Queryable, orders: readonly StoredOrder[]): Promise<void> {
  if (orders.length === 0) return;
  await tx.query({
    name: "announce_paid_orders",
    text: `with made as (
             select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[])
                    as made (project_id, id, paid_event_id, event_key, event)),
           marked as (
             update shop_order as stored
                set paid_event_id = made.paid_event_id
               from made
              where stored.project_id = made.project_id and stored.id = made.id
                and stored.paid_event_id is null
             returning stored.paid_event_id)
           insert into outbox (project_id, id, topic, key, type, payload)
           select made.project_id, made.paid_event_id, '${ORDERS_TOPIC}', made.event_key,
                  '${ORDER_PAID}', made.event
             from made
             join marked using (paid_event_id)`,
    values: [
      orders.map(({ projectId }) => projectId),
      orders.map(({ order }) => order.id),
      ...eventColumnsOf(orders),
    ],
  });
}

/**
 * One order is written once by a statement: the last state of it in the batch. All statements lock
 * orders in one order, so that two of them never wait for each other.
 */
const lastStates = (orders: readonly StoredOrder[]): StoredOrder[] => {
  const last = new Map(
    orders.map((stored) => [`${stored.projectId} ${stored.order.id}`, stored] as const),
  );
  return [...last].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, stored]) => stored);
};

const columnsOf = (rows: readonly StoredOrder[]): unknown[] => [
  rows.map(({ projectId }) => projectId),
  rows.map(({ order }) => order.id),
  rows.map(({ order }) => order.sourceId ?? null),
  rows.map(({ order }) => STATUS_NAMES[order.status ?? OrderStatus.CREATED] ?? "CREATED"),
  rows.map(({ order }) => order.customerId ?? null),
  rows.map(({ order }) => Buffer.from(toBinary(OrderSchema, order))),
  rows.map(({ order, at }) =>
    order.createdAt === undefined ? at : timestampDate(order.createdAt),
  ),
  rows.map(({ at }) => at),
];

/** Each paid order with the event that would be the first to tell it. */
function eventColumnsOf(rows: readonly StoredOrder[]): unknown[] {
  const isPaid = ({ order }: StoredOrder): boolean => order.status === OrderStatus.PAID;
  return [
    rows.map((row) => (isPaid(row) ? newId("event") : null)),
    rows.map(({ order }) => orderPaidKey(order)),
    rows.map((row) => (isPaid(row) ? orderPaid(row.projectId, row.order, row.at) : null)),
  ];
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  [OrderStatus.CREATED]: "CREATED",
  [OrderStatus.PAID]: "PAID",
  [OrderStatus.CANCELED]: "CANCELED",
  [OrderStatus.FULFILLED]: "FULFILLED",
};

/** Gives an order another source id; false when another order has it. The order must be claimed. */
export async function setSourceId(
  db: Queryable,
  order: { readonly projectId: string; readonly id: string; readonly sourceId: string },
): Promise<boolean> {
  try {
    await db.query("update shop_order set source_id = $3 where project_id = $1 and id = $2", [
      order.projectId,
      order.id,
      order.sourceId,
    ]);
    return true;
  } catch (error) {
    if (isUniqueViolation(error, "shop_order_project_source_id")) return false;
    throw error;
  }
}

const SORTABLE: Readonly<Record<string, string>> = {
  created_at: "created_at",
  updated_at: "updated_at",
  status: "status",
};

export type Listing = {
  readonly projectId: string;
  /** A column that may be sorted by; `-` in front is descending. */
  readonly order: string;
  readonly limit: number;
  readonly offset: number;
};

/** One page, and how many orders there are in all. Ties are broken by id. */
export async function listOrders(
  db: Queryable,
  { projectId, order, limit, offset }: Listing,
): Promise<{ readonly orders: readonly Order[]; readonly total: bigint }> {
  const direction = order.startsWith("-") ? "desc" : "asc";
  const column = SORTABLE[order.replace("-", "")];
  if (column === undefined) throw new Error(`orders cannot be sorted by ${order}`);
  const [{ rows }, { rows: counts }] = await Promise.all([
    db.query<{ document: Buffer }>(
      `select document from shop_order
        where project_id = $1 and document is not null
        order by ${column} ${direction}, id ${direction}
        limit $2 offset $3`,
      [projectId, limit, offset],
    ),
    db.query<{ total: bigint }>(
      "select count(*) as total from shop_order where project_id = $1 and document is not null",
      [projectId],
    ),
  ]);
  return {
    orders: rows.map(({ document }) => fromBinary(OrderSchema, document)),
    total: counts[0]?.total ?? 0n,
  };
}

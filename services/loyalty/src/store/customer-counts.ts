import {
  boolArray,
  int4Array,
  int8Array,
  type Queryable,
  textArray,
  timestampArray,
} from "@scrip/postgres";

export type CustomerRef = { readonly projectId: string; readonly customerId: string };

export type RedemptionCounts = CustomerRef & {
  readonly succeeded: number;
  readonly failed: number;
  readonly rolledBack: number;
  readonly rollbacksRejected: number;
  /** Redeemed credits less those that rollbacks returned. */
  readonly giftAmount: bigint;
};

export type CountedOrder = CustomerRef & {
  readonly orderId: string;
  readonly amount: bigint;
  readonly at: Date;
  /** False is stored too: the event of an earlier payment may arrive later. */
  readonly paid: boolean;
};

/**
 * Returns the customers that exist and prevents their deletion until the transaction ends. Locks are taken
 * in key order, so that concurrent batches do not deadlock: a nested loop locks in the order of its outer side.
 */
export async function shareLockCustomers(
  tx: Queryable,
  customers: readonly CustomerRef[],
): Promise<readonly CustomerRef[]> {
  const byName = new Map(customers.map((customer) => [customerKey(customer), customer]));
  const sorted = [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  // A range with its order: see findCustomersBy.
  const { rows } = await tx.query<{ project_id: string; id: string }>({
    name: "hold_customers",
    text: `select held.*
             from unnest($1::text[], $2::text[]) as name (project_id, id)
            cross join lateral (
                    select project_id, id
                      from customer
                     where project_id = name.project_id and id between name.id and name.id
                     order by id
                     limit 1
                       for key share
                  ) held`,
    values: [
      textArray(sorted.map(({ projectId }) => projectId)),
      textArray(sorted.map(({ customerId }) => customerId)),
    ],
  });
  return rows.map((row) => ({ projectId: row.project_id, customerId: row.id }));
}

/** Identifies a customer in maps. */
export const customerKey = ({ projectId, customerId }: CustomerRef): string =>
  `${projectId}\n${customerId}`;

/** Adds to the counts of customers, each listed once. */
export async function addRedemptionCounts(
  tx: Queryable,
  counted: readonly RedemptionCounts[],
): Promise<void> {
  await tx.query({
    name: "add_redemptions",
    text: `insert into customer_redemptions as known
            (project_id, customer_id, succeeded, gift_amount, failed, rolled_back,
             rollbacks_refused)
     select *
       from unnest($1::text[], $2::text[], $3::int[], $4::bigint[], $5::int[], $6::int[], $7::int[])
              as counted (project_id, customer_id, succeeded, gift_amount, failed, rolled_back,
                          rollbacks_refused)
      order by project_id, customer_id
         on conflict (project_id, customer_id) do update
        set succeeded = known.succeeded + excluded.succeeded,
            gift_amount = known.gift_amount + excluded.gift_amount,
            failed = known.failed + excluded.failed,
            rolled_back = known.rolled_back + excluded.rolled_back,
            rollbacks_refused = known.rollbacks_refused + excluded.rollbacks_refused`,
    values: [
      textArray(counted.map(({ projectId }) => projectId)),
      textArray(counted.map(({ customerId }) => customerId)),
      int4Array(counted.map(({ succeeded }) => succeeded)),
      int8Array(counted.map(({ giftAmount }) => giftAmount)),
      int4Array(counted.map(({ failed }) => failed)),
      int4Array(counted.map(({ rolledBack }) => rolledBack)),
      int4Array(counted.map(({ rollbacksRejected: rollbacksRefused }) => rollbacksRefused)),
    ],
  });
}

/**
 * Stores the states of orders, each listed once, unless a newer or equal state is stored. Of two states with
 * the same time, the later delivery wins; with `unpaidWins`, which events of another topic need, the unpaid
 * state wins, because an order is paid before it is rolled back.
 */
export async function upsertOrders(
  tx: Queryable,
  orders: readonly CountedOrder[],
  { unpaidWins = false }: { readonly unpaidWins?: boolean } = {},
): Promise<void> {
  await tx.query({
    name: "put_orders",
    text: `insert into customer_order as known (project_id, order_id, customer_id, amount, changed_at, paid)
     select *
       from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::bool[])
              as counted (project_id, order_id, customer_id, amount, changed_at, paid)
      order by project_id, order_id
         on conflict (project_id, order_id) do update
        set customer_id = excluded.customer_id,
            amount = excluded.amount,
            changed_at = excluded.changed_at,
            paid = excluded.paid
      where known.changed_at < excluded.changed_at
         or (known.changed_at = excluded.changed_at
             and (known.paid or not $7::bool)
             and (known.amount, known.customer_id, known.paid)
                 <> (excluded.amount, excluded.customer_id, excluded.paid))`,
    values: [
      textArray(orders.map(({ projectId }) => projectId)),
      textArray(orders.map(({ orderId }) => orderId)),
      textArray(orders.map(({ customerId }) => customerId)),
      int8Array(orders.map(({ amount }) => amount)),
      timestampArray(orders.map(({ at }) => at.getTime())),
      boolArray(orders.map(({ paid }) => paid)),
      unpaidWins,
    ],
  });
}

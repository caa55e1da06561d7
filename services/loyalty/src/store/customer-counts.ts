import {
  batchOf,
  buildStatement,
  column,
  type ColumnTable,
  excludedAssignments,
  type Queryable,
  rowOf,
  summedAssignments,
  textArray,
} from "@scrip/postgres";

import { queueChangedSql } from "./changed-customers.ts";

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
    planning: "indexLookups",
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
  await tx.query(addStatement({ counted }));
}

const sumColumns: ColumnTable<RedemptionCounts> = {
  succeeded: column.int4(({ succeeded }) => succeeded),
  gift_amount: column.int8(({ giftAmount }) => giftAmount),
  failed: column.int4(({ failed }) => failed),
  rolled_back: column.int4(({ rolledBack }) => rolledBack),
  rollbacks_refused: column.int4(({ rollbacksRejected }) => rollbacksRejected),
};

const addStatement = buildStatement({
  name: "add-redemption-counts",
  parts: {
    counted: batchOf<RedemptionCounts>({
      project_id: column.text(({ projectId }) => projectId),
      customer_id: column.text(({ customerId }) => customerId),
      ...sumColumns,
    }),
  },
  text: ({ counted }) => `
    with written as (
      insert into customer_redemptions as known (${counted.columns})
      select ${counted.columns} from ${counted.rows("one")}
       order by project_id, customer_id
          on conflict (project_id, customer_id) do update
         set ${summedAssignments(sumColumns, "known")}
      returning project_id, customer_id
    )
    ${queueChangedSql("written", "customer_id")}`,
});

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
  await tx.query(upsertStatement({ orders, unpaidWins }));
}

const orderStateColumns: ColumnTable<CountedOrder> = {
  customer_id: column.text(({ customerId }) => customerId),
  amount: column.int8(({ amount }) => amount),
  changed_at: column.timestamp(({ at }) => at.getTime()),
  paid: column.bool(({ paid }) => paid),
};

const upsertStatement = buildStatement({
  name: "upsert-customer-orders",
  parts: {
    orders: batchOf<CountedOrder>({
      project_id: column.text(({ projectId }) => projectId),
      order_id: column.text(({ orderId }) => orderId),
      ...orderStateColumns,
    }),
    unpaidWins: rowOf<boolean>({ unpaid_wins: column.bool((unpaidWins) => unpaidWins) }),
  },
  text: ({ orders, unpaidWins }) => `
    with written as (
      insert into customer_order as known (${orders.columns})
      select ${orders.columns} from ${orders.rows("one")}
       order by project_id, order_id
          on conflict (project_id, order_id) do update
         set ${excludedAssignments(orderStateColumns)},
             previous_customer_id = nullif(known.customer_id, excluded.customer_id)
       where known.changed_at < excluded.changed_at
          or (known.changed_at = excluded.changed_at
              and (known.paid or not ${unpaidWins.values})
              and (known.amount, known.customer_id, known.paid)
                  <> (excluded.amount, excluded.customer_id, excluded.paid))
      returning project_id, customer_id, previous_customer_id
    ), owners as (
      select project_id, customer_id from written
       union all
      select project_id, previous_customer_id from written where previous_customer_id is not null
    )
    ${queueChangedSql("owners", "customer_id")}`,
});

import type { Queryable } from "@scrip/postgres";

export type CustomerRef = { readonly projectId: string; readonly customerId: string };

export type CountedRedemptions = CustomerRef & {
  readonly succeeded: number;
  readonly failed: number;
  readonly rolledBack: number;
  readonly rollbacksRefused: number;
  /** Credits taken, less those given back. */
  readonly giftAmount: bigint;
};

export type CountedOrder = CustomerRef & {
  readonly orderId: string;
  readonly amount: bigint;
  readonly at: Date;
};

/**
 * Answers which of the customers are still there, and keeps them from being deleted until the
 * transaction ends. All batches lock in one order, so none of them waits for another in a circle.
 */
export async function holdCustomers(
  tx: Queryable,
  customers: readonly CustomerRef[],
): Promise<readonly CustomerRef[]> {
  // Not prepared by name: a plan from when the table was small may use another of its indexes.
  const { rows } = await tx.query<{ project_id: string; id: string }>(
    `select project_id, id
       from customer
      where (project_id, id) in (select * from unnest($1::text[], $2::text[]))
      order by project_id, id
        for key share`,
    [customers.map(({ projectId }) => projectId), customers.map(({ customerId }) => customerId)],
  );
  return rows.map((row) => ({ projectId: row.project_id, customerId: row.id }));
}

/** Each customer once. */
export async function addRedemptions(
  tx: Queryable,
  counted: readonly CountedRedemptions[],
): Promise<void> {
  await tx.query(
    `insert into customer_redemptions as known
            (project_id, customer_id, succeeded, gift_amount, failed, rolled_back,
             rollbacks_refused)
     select *
       from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
                   $7::bigint[])
              as counted (project_id, customer_id, succeeded, gift_amount, failed, rolled_back,
                          rollbacks_refused)
      order by project_id, customer_id
         on conflict (project_id, customer_id) do update
        set succeeded = known.succeeded + excluded.succeeded,
            gift_amount = known.gift_amount + excluded.gift_amount,
            failed = known.failed + excluded.failed,
            rolled_back = known.rolled_back + excluded.rolled_back,
            rollbacks_refused = known.rollbacks_refused + excluded.rollbacks_refused`,
    [
      counted.map(({ projectId }) => projectId),
      counted.map(({ customerId }) => customerId),
      counted.map(({ succeeded }) => succeeded),
      counted.map(({ giftAmount }) => giftAmount),
      counted.map(({ failed }) => failed),
      counted.map(({ rolledBack }) => rolledBack),
      counted.map(({ rollbacksRefused }) => rollbacksRefused),
    ],
  );
}

/** Each order once; what is there and newer stays, and what is there already is not written again. */
export async function putOrders(tx: Queryable, orders: readonly CountedOrder[]): Promise<void> {
  await tx.query(
    `insert into customer_order as known (project_id, order_id, customer_id, amount, changed_at)
     select *
       from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[])
              as counted (project_id, order_id, customer_id, amount, changed_at)
      order by project_id, order_id
         on conflict (project_id, order_id) do update
        set customer_id = excluded.customer_id,
            amount = excluded.amount,
            changed_at = excluded.changed_at
      where known.changed_at < excluded.changed_at
         or (known.changed_at = excluded.changed_at
             and (known.amount, known.customer_id) <> (excluded.amount, excluded.customer_id))`,
    [
      orders.map(({ projectId }) => projectId),
      orders.map(({ orderId }) => orderId),
      orders.map(({ customerId }) => customerId),
      orders.map(({ amount }) => amount),
      orders.map(({ at }) => at),
    ],
  );
}

/** Forgets orders that are paid no more; what is there and newer stays. */
export async function dropOrders(tx: Queryable, orders: readonly CountedOrder[]): Promise<void> {
  await tx.query(
    `delete from customer_order
      where (project_id, order_id) in (
              select known.project_id, known.order_id
                from unnest($1::text[], $2::text[], $3::timestamptz[])
                       as gone (project_id, order_id, at)
                join customer_order known
                  on known.project_id = gone.project_id and known.order_id = gone.order_id
                 and known.changed_at <= gone.at
               order by known.project_id, known.order_id
                 for update of known
            )`,
    [
      orders.map(({ projectId }) => projectId),
      orders.map(({ orderId }) => orderId),
      orders.map(({ at }) => at),
    ],
  );
}

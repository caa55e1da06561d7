import type { Queryable } from "@scrip/postgres";

import type { Customer, CustomerInput, CustomerKey } from "../domain/customer.ts";

type CustomerRow = {
  project_id: string;
  id: string;
  source_id: string | null;
  name: string | null;
  email: string | null;
  metadata: Record<string, unknown>;
};

export type FoundCustomer = Customer & { readonly projectId: string };

export async function findCustomersBy(
  db: Queryable,
  column: CustomerKey["column"],
  keys: readonly CustomerKey[],
): Promise<FoundCustomer[]> {
  if (keys.length === 0) return [];
  const { rows } = await db.query<CustomerRow>(
    `select project_id, id, source_id, name, email, metadata
       from customer
      where (project_id, ${column}) in (select * from unnest($1::text[], $2::text[]))`,
    [keys.map(({ projectId }) => projectId), keys.map(({ value }) => value)],
  );
  return rows.map(fromRow);
}

export type NewCustomer = {
  readonly projectId: string;
  readonly id: string;
  readonly sourceId: string;
  readonly at: Date;
};

/** Two requests may make the same customer at once: the second one's id is not used. */
export async function ensureCustomers(
  db: Queryable,
  customers: readonly NewCustomer[],
): Promise<void> {
  if (customers.length === 0) return;
  // Sorted, so that two batches with the same customers wait for each other instead of deadlocking.
  const sorted = customers.toSorted((a, b) => (a.sourceId < b.sourceId ? -1 : 1));
  await db.query(
    `insert into customer (project_id, id, source_id, created_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
     on conflict (project_id, source_id) do nothing`,
    [
      sorted.map(({ projectId }) => projectId),
      sorted.map(({ id }) => id),
      sorted.map(({ sourceId }) => sourceId),
      sorted.map(({ at }) => at),
    ],
  );
}

/** Sent fields overwrite, others stay; metadata is merged key by key. */
export async function mergeCustomer(
  db: Queryable,
  key: { readonly projectId: string; readonly id: string },
  said: CustomerInput,
  at: Date,
): Promise<FoundCustomer | undefined> {
  const { rows } = await db.query<CustomerRow>(
    `update customer
        set name = coalesce($3, name),
            email = coalesce($4, email),
            phone = coalesce($5, phone),
            country = coalesce($6, country),
            description = coalesce($7, description),
            metadata = metadata || $8::jsonb,
            updated_at = $9
      where project_id = $1 and id = $2
      returning project_id, id, source_id, name, email, metadata`,
    [
      key.projectId,
      key.id,
      said.name ?? null,
      said.email ?? null,
      said.phone ?? null,
      said.country ?? null,
      said.description ?? null,
      JSON.stringify(said.metadata ?? {}),
      at,
    ],
  );
  return rows[0] && fromRow(rows[0]);
}

function fromRow(row: CustomerRow): FoundCustomer {
  return {
    projectId: row.project_id,
    id: row.id,
    sourceId: row.source_id,
    name: row.name,
    email: row.email,
    metadata: row.metadata,
  };
}

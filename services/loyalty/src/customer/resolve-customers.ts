import type { newId } from "@scrip/ids";
import type { Queryable } from "@scrip/postgres";

import {
  customerChangeOf,
  type CustomerInput,
  type CustomerKey,
  hasChanges,
} from "../domain/customer.ts";
import { keyOf } from "../domain/key.ts";
import {
  findCustomersBy,
  insertMissingCustomers,
  mergeCustomers,
  type StoredCustomer,
} from "../store/customers.ts";

/** A customer in a request. With `upsert` they are created if missing, and the input is stored. */
export type CustomerRequest = {
  readonly key: CustomerKey | undefined;
  readonly input: CustomerInput | undefined;
  readonly upsert: boolean;
  readonly at: Date;
};

type Deps = { readonly db: Queryable; readonly newId: typeof newId };

type StoredCustomers = Map<string, StoredCustomer>;

/** Finds, creates and updates the customers of a batch; returns them in the order of the requests. */
export async function resolveCustomers(
  deps: Deps,
  requests: readonly CustomerRequest[],
): Promise<readonly (StoredCustomer | undefined)[]> {
  const stored: StoredCustomers = new Map();
  await addStoredCustomers(
    deps.db,
    requests.flatMap(({ key }) => key ?? []),
    stored,
  );
  await createMissingCustomers(deps, requests, stored);
  await mergeInputs(deps.db, requests, stored);
  return requests.map(({ key }) => key && stored.get(textOf(key)));
}

async function addStoredCustomers(
  db: Queryable,
  keys: readonly CustomerKey[],
  stored: StoredCustomers,
): Promise<void> {
  for (const column of ["id", "source_id"] as const) {
    const customers = await findCustomersBy(
      db,
      column,
      keys.filter((key) => key.column === column),
    );
    for (const customer of customers) {
      const value = column === "id" ? customer.id : customer.sourceId;
      if (value === null) continue;
      stored.set(textOf({ projectId: customer.projectId, column, value }), customer);
    }
  }
}

async function createMissingCustomers(
  { db, newId: createId }: Deps,
  requests: readonly CustomerRequest[],
  stored: StoredCustomers,
): Promise<void> {
  const missing = requests.flatMap(({ key, upsert, at }) =>
    upsert && key?.column === "source_id" && !stored.has(textOf(key)) ? [{ key, at }] : [],
  );
  if (missing.length === 0) return;
  await insertMissingCustomers(
    db,
    missing.map(({ key, at }) => ({
      projectId: key.projectId,
      id: createId("cust"),
      sourceId: key.value,
      at,
    })),
  );
  const keys = missing.map(({ key }) => key);
  await addStoredCustomers(db, keys, stored);
}

/** Merges in rounds with one input per customer each, so that inputs apply in the order of the requests. */
async function mergeInputs(
  db: Queryable,
  requests: readonly CustomerRequest[],
  stored: StoredCustomers,
): Promise<void> {
  const inputs = requests.flatMap(({ key, input, upsert, at }) => {
    const customer = key && stored.get(textOf(key));
    if (key === undefined || customer === undefined) return [];
    if (!upsert || input === undefined || !hasChanges(input)) return [];
    const { projectId, id } = customer;
    return [{ key, merge: { projectId, id, change: customerChangeOf(input), at } }];
  });
  const byCustomer = Map.groupBy(inputs, ({ merge: { projectId, id } }) => keyOf(projectId, id));
  const rounds = Math.max(0, ...[...byCustomer.values()].map(({ length }) => length));
  for (let round = 0; round < rounds; round += 1) {
    const items = [...byCustomer.values()].flatMap((ofCustomer) => ofCustomer[round] ?? []);
    const merged = await mergeCustomers(
      db,
      items.map(({ merge }) => merge),
    );
    const byKey = new Map(
      merged.map((customer) => [keyOf(customer.projectId, customer.id), customer]),
    );
    for (const { key, merge } of items) {
      const customer = byKey.get(keyOf(merge.projectId, merge.id));
      if (customer !== undefined) stored.set(textOf(key), customer);
    }
  }
}

const textOf = ({ projectId, column, value }: CustomerKey): string =>
  keyOf(projectId, column, value);

import { changed, isReceived, publishReceived } from "@scrip/idempotency";
import type { Queryable } from "@scrip/postgres";
import { CustomerProfileSchema } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { hasChanges } from "../domain/customer.ts";
import { CUSTOMERS_TOPIC } from "../events/topics.ts";
import { findProfiles } from "../store/customer-profiles.ts";
import type { StoredCustomer } from "../store/customers.ts";
import { readTiers } from "../tiers/holder-tiers.ts";
import { describeCustomers } from "./describe-customers.ts";
import { type CustomerRequest, resolveCustomers } from "./resolve-customers.ts";

const CREATED = "customer.created";
const UPDATED = "customer.updated";

type Change = typeof CREATED | typeof UPDATED;

const receivesCustomers = (call: Call): boolean => isReceived({ names: [CREATED, UPDATED] }, call);

/** Whether webhooks of the call's project receive customers that these requests write. */
export const publishesCustomers = (requests: readonly CustomerRequest[], call: Call): boolean =>
  receivesCustomers(call) && requests.some(({ upsert }) => upsert);

/** As `resolveCustomers`, in a transaction; also publishes the customers that were written. */
export async function resolveAndPublish(
  { db: tx, newId }: Pick<Deps, "newId"> & { readonly db: Queryable },
  requests: readonly CustomerRequest[],
  call: Call,
): Promise<readonly (StoredCustomer | undefined)[]> {
  const newIds = new Set<string>();
  const remember: typeof newId = (prefix) => {
    const id = newId(prefix);
    newIds.add(id);
    return id;
  };
  const customers = await resolveCustomers({ db: tx, newId: remember }, requests);
  if (!publishesCustomers(requests, call)) return customers;
  const projectId = call.project.id;
  const written = new Map<string, Change>();
  for (const [index, customer] of customers.entries()) {
    const { upsert = false, input } = requests[index] ?? {};
    if (customer?.projectId !== projectId || !upsert) continue;
    if (newIds.has(customer.id)) written.set(customer.id, CREATED);
    else if (input !== undefined && hasChanges(input)) written.set(customer.id, UPDATED);
  }
  await publishCustomers(tx, written, call);
  return customers;
}

/** Publishes customers that the transaction has created or changed, if webhooks of the project receive them. */
export async function publishCustomers(
  tx: Queryable,
  written: ReadonlyMap<string, Change>,
  call: Call,
): Promise<void> {
  if (!receivesCustomers(call)) return;
  const projectId = call.project.id;
  const keys = [...written.keys()].map((id) => ({ projectId, id }));
  // Not from the cache: it would need another connection, and transactions of many requests hold all of them.
  const tiers: Deps["tiers"] = async (id) =>
    (await readTiers(tx, [{ projectId: id }])).get(id) ?? new Map();
  const profiles = (await findProfiles(tx, keys)).map(({ profile }) => profile);
  const changes = (await describeCustomers({ db: tx, tiers }, projectId, profiles)).map(
    (customer) => ({
      ...changed(CustomerProfileSchema, customer),
      names: [written.get(customer.id) ?? UPDATED],
    }),
  );
  await publishReceived(tx, call, { topic: CUSTOMERS_TOPIC, changes });
}

import { notFound } from "@scrip/errors";
import { instantToProto } from "@scrip/mapping";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { CustomerQuery, StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

/** Creates or updates the customer of a request; an id must exist. */
export async function upsertCustomer(
  deps: Deps,
  references: Customer,
  call: Call,
): Promise<StoredCustomer> {
  const [customer] = await upsertCustomers(deps, [references], call);
  if (customer === undefined) throw new Error("one customer was requested and none returned");
  return customer;
}

/** Creates or updates the customers of a request; ids must exist. */
export async function upsertCustomers(
  deps: Deps,
  references: readonly Customer[],
  call: Call,
): Promise<readonly StoredCustomer[]> {
  return requireAll(references, await resolve(deps, references, { call, upsert: true }));
}

/** The customers of a request that exist, in its order, without creating or updating any; ids must exist. */
export async function findReferencedCustomers(
  deps: Deps,
  references: readonly Customer[],
  call: Call,
): Promise<readonly (StoredCustomer | undefined)[]> {
  const found = await resolve(deps, references, { call, upsert: false });
  for (const [index, { id }] of references.entries()) {
    if (id !== undefined && found[index] === undefined) throw notFound("customer", id);
  }
  return found;
}

const requireAll = (
  references: readonly Customer[],
  found: readonly (StoredCustomer | undefined)[],
): readonly StoredCustomer[] =>
  references.map(({ id, sourceId }, index) => {
    const customer = found[index];
    if (customer === undefined) throw notFound("customer", id ?? sourceId ?? "");
    return customer;
  });

/** Finds a customer by id or source id. */
export async function findCustomer(
  deps: Deps,
  name: string,
  call: Call,
): Promise<StoredCustomer | undefined> {
  const references = [referenceTo({ id: name }), referenceTo({ sourceId: name })];
  const [byId, bySourceId] = await resolve(deps, references, { call, upsert: false });
  return byId ?? bySourceId;
}

/** A customer by id, who must be in the segment if there is one. */
export async function findCustomerInSegment(
  { customers }: Pick<Deps, "customers">,
  { customerId, segmentId }: { readonly customerId: string; readonly segmentId: string | null },
  call: Call,
): Promise<StoredCustomer | "unknown" | "outside"> {
  const query = queryOf(referenceTo({ id: customerId }), { call, upsert: false });
  const request = {
    $typeName: "scrip.loyalty.v1.ResolveCustomersRequest" as const,
    queries: [{ ...query, withSegments: segmentId !== null }],
  };
  const [found] = (await customers.resolveCustomers(request, call)).results;
  if (found?.customer === undefined) return "unknown";
  if (segmentId !== null && found.unreadableSegmentIds.includes(segmentId)) {
    throw new Error(`segment ${segmentId} cannot be read`);
  }
  const isOutside = segmentId !== null && !found.segmentIds.includes(segmentId);
  return isOutside ? "outside" : found.customer;
}

/** The customers that exist, by id. */
export async function findCustomers(
  deps: Deps,
  ids: Iterable<string>,
  call: Call,
): Promise<ReadonlyMap<string, StoredCustomer>> {
  const references = [...new Set(ids)].map((id) => referenceTo({ id }));
  if (references.length === 0) return new Map();
  const found = await resolve(deps, references, { call, upsert: false });
  return new Map(found.flatMap((customer) => (customer ? [[customer.id, customer]] : [])));
}

async function resolve(
  { customers }: Deps,
  references: readonly Customer[],
  { call, upsert }: { readonly call: Call; readonly upsert: boolean },
): Promise<readonly (StoredCustomer | undefined)[]> {
  const queries = references.map((customer) => queryOf(customer, { call, upsert }));
  const request = { $typeName: "scrip.loyalty.v1.ResolveCustomersRequest" as const, queries };
  const { results } = await customers.resolveCustomers(request, call);
  return results.map(({ customer }) => customer);
}

const queryOf = (
  customer: Customer,
  { call, upsert }: { readonly call: Call; readonly upsert: boolean },
): CustomerQuery => ({
  $typeName: "scrip.loyalty.v1.CustomerQuery",
  projectId: call.project.id,
  customer,
  upsert,
  now: instantToProto(call.now),
  withSegments: false,
  timeZone: call.project.timeZone,
});

const referenceTo = (key: Pick<Customer, "id" | "sourceId">): Customer => ({
  $typeName: "scrip.common.v1.Customer",
  ...key,
});

import { notFound } from "@scrip/errors";
import { instantToProto } from "@scrip/mapping";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { CustomerQuery, StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

/** The customer that a request names, made or updated; an id must be known. */
export async function upsertCustomer(
  deps: Deps,
  said: Customer,
  call: Call,
): Promise<StoredCustomer> {
  const [found] = await resolve(deps, [said], { call, upsert: true });
  if (found === undefined) throw notFound("customer", said.id ?? said.sourceId ?? "");
  return found;
}

/** The customer of an id or a source id. */
export async function findCustomer(
  deps: Deps,
  name: string,
  call: Call,
): Promise<StoredCustomer | undefined> {
  const said = [named({ id: name }), named({ sourceId: name })];
  const [byId, bySourceId] = await resolve(deps, said, { call, upsert: false });
  return byId ?? bySourceId;
}

/** Those that are still there, by id. */
export async function findCustomers(
  deps: Deps,
  ids: Iterable<string>,
  call: Call,
): Promise<ReadonlyMap<string, StoredCustomer>> {
  const said = [...new Set(ids)].map((id) => named({ id }));
  if (said.length === 0) return new Map();
  const found = await resolve(deps, said, { call, upsert: false });
  return new Map(found.flatMap((customer) => (customer ? [[customer.id, customer]] : [])));
}

async function resolve(
  { customers }: Deps,
  said: readonly Customer[],
  { call, upsert }: { readonly call: Call; readonly upsert: boolean },
): Promise<readonly (StoredCustomer | undefined)[]> {
  const queries = said.map((customer): CustomerQuery => ({
    $typeName: "scrip.loyalty.v1.CustomerQuery",
    projectId: call.project.id,
    customer,
    upsert,
    now: instantToProto(call.now),
    withSegments: false,
    timeZone: call.project.timeZone,
  }));
  const request = { $typeName: "scrip.loyalty.v1.ResolveCustomersRequest" as const, queries };
  const { results: answers } = await customers.resolveCustomers(request, call);
  return answers.map(({ customer }) => customer);
}

const named = (name: Pick<Customer, "id" | "sourceId">): Customer => ({
  $typeName: "scrip.common.v1.Customer",
  ...name,
});

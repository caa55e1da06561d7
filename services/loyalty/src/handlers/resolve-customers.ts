import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type CustomerQuery,
  type CustomerService,
  ResolveCustomersResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call, Handler } from "@scrip/rpc";

import { publishesCustomers, resolveAndPublish } from "../customer/resolve-and-publish.ts";
import {
  type CustomerRequest,
  resolveCustomers as resolve,
} from "../customer/resolve-customers.ts";
import type { Deps } from "../deps.ts";
import { customerKeyOf } from "../domain/customer.ts";
import { keyOf } from "../domain/key.ts";
import { storedCustomerToProto } from "../mapping/customer.ts";
import { evaluateSegments, type Memberships } from "../segment/evaluate-segments.ts";
import type { StoredCustomer } from "../store/customers.ts";
import { findTiersOfCustomers } from "../tiers/holder-tiers.ts";

export const resolveCustomers =
  (deps: Deps): Handler<typeof CustomerService.method.resolveCustomers> =>
  async ({ queries }, call) => {
    const requests = queries.map((query) => customerRequest(query, call));
    const customers = await resolveAll(deps, requests, call);
    // Only for queries that request segments; the others need no further statements.
    const resolved = queries
      .map((query, index) => ({
        query,
        customer: customers[index],
        now: requests[index]?.at.getTime() ?? call.now,
      }))
      .filter(({ query }) => query.withSegments);
    const [memberships, tierIds] = await Promise.all([
      membershipsOf(deps, resolved),
      tierIdsOf(deps, resolved),
    ]);
    return create(ResolveCustomersResponseSchema, {
      results: queries.map((query, index) => {
        const customer = customers[index];
        return {
          ...(customer !== undefined && { customer: storedCustomerToProto(customer) }),
          segmentIds: memberships.get(query)?.segments.map(({ id }) => id) ?? [],
          unreadableSegmentIds: [...(memberships.get(query)?.unreadable ?? [])],
          loyaltyTierIds: tierIds.get(query) ?? [],
        };
      }),
    });
  };

async function resolveAll(
  deps: Deps,
  requests: readonly CustomerRequest[],
  call: Call,
): Promise<readonly (StoredCustomer | undefined)[]> {
  if (!publishesCustomers(requests, call)) return resolve(deps, requests);
  const customers = await deps.db.transaction((tx) =>
    resolveAndPublish({ ...deps, db: tx }, requests, call),
  );
  deps.onEvents();
  return customers;
}

const customerRequest = (query: CustomerQuery, call: Call): CustomerRequest => ({
  key: query.customer && customerKeyOf(query.projectId, query.customer),
  input: query.customer,
  upsert: query.upsert,
  at: new Date(query.now === undefined ? call.now : timestampMs(query.now)),
});

type Resolved = {
  readonly query: CustomerQuery;
  readonly customer: StoredCustomer | undefined;
  readonly now: number;
};

async function membershipsOf(
  deps: Deps,
  resolved: readonly Resolved[],
): Promise<ReadonlyMap<CustomerQuery, Memberships | undefined>> {
  if (resolved.length === 0) return new Map();
  const memberships = await evaluateSegments(
    deps,
    resolved.map(({ query, customer, now }) => ({
      projectId: query.projectId,
      customerId: customer?.id ?? null,
      input: query.customer,
      time: { now, timeZone: query.timeZone || "UTC", firstWeekday: query.firstWeekday },
    })),
  );
  return new Map(resolved.map(({ query }, index) => [query, memberships[index]]));
}

async function tierIdsOf(
  deps: Deps,
  resolved: readonly Resolved[],
): Promise<ReadonlyMap<CustomerQuery, string[]>> {
  const stored = resolved.flatMap(({ query, customer }) =>
    customer === undefined ? [] : [{ query, projectId: query.projectId, customerId: customer.id }],
  );
  if (stored.length === 0) return new Map();
  const tiers = await findTiersOfCustomers(deps, stored);
  return new Map(
    stored.map(({ query, projectId, customerId }) => {
      const ids = (tiers.get(keyOf(projectId, customerId)) ?? []).map(({ tier }) => tier.id);
      return [query, [...new Set(ids)].toSorted()];
    }),
  );
}

import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type CustomerQuery,
  type CustomerService,
  ResolveCustomersResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call, Handler } from "@scrip/rpc";

import {
  type CustomerRequest,
  resolveCustomers as resolve,
} from "../customer/resolve-customers.ts";
import type { Deps } from "../deps.ts";
import { customerKeyOf } from "../domain/customer.ts";
import { storedCustomerToProto } from "../mapping/customer.ts";
import { evaluateSegments } from "../segment/evaluate-segments.ts";
import type { StoredCustomer } from "../store/customers.ts";

export const resolveCustomers =
  (deps: Deps): Handler<typeof CustomerService.method.resolveCustomers> =>
  async ({ queries }, call) => {
    const requests = queries.map((query) => customerRequest(query, call));
    const customers = await resolve(deps, requests);
    const segmentIds = await segmentIdsOf(
      deps,
      queries.map((query, index) => ({
        query,
        customer: customers[index],
        now: requests[index]?.at.getTime() ?? call.now,
      })),
    );
    return create(ResolveCustomersResponseSchema, {
      results: queries.map((query, index) => {
        const customer = customers[index];
        return {
          ...(customer !== undefined && { customer: storedCustomerToProto(customer) }),
          segmentIds: segmentIds.get(query) ?? [],
        };
      }),
    });
  };

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

/** Only for queries that request segments; the others need no further statements. */
async function segmentIdsOf(
  deps: Deps,
  resolved: readonly Resolved[],
): Promise<ReadonlyMap<CustomerQuery, string[]>> {
  const withSegments = resolved.filter(({ query }) => query.withSegments);
  if (withSegments.length === 0) return new Map();
  const segments = await evaluateSegments(
    deps,
    withSegments.map(({ query, customer, now }) => ({
      projectId: query.projectId,
      customerId: customer?.id ?? null,
      input: query.customer,
      time: { now, timeZone: query.timeZone || "UTC", firstWeekday: query.firstWeekday },
    })),
  );
  return new Map(
    withSegments.map(({ query }, index) => [query, (segments[index] ?? []).map(({ id }) => id)]),
  );
}

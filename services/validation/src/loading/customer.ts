import { invalidPayload, notFound } from "@scrip/errors";
import { instantToProto } from "@scrip/mapping";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

/**
 * Finds the customer of a request without writing. An unknown source id is a customer with only the
 * sent data; an unknown id is rejected.
 */
export async function loadCustomer(
  deps: Deps,
  call: Call,
  customer: Customer | undefined,
): Promise<StoredCustomer | undefined> {
  if (customer === undefined) return undefined;
  if (customer.id === undefined && customer.sourceId === undefined) {
    throw invalidPayload("Property .customer should have required property 'id' or 'source_id'");
  }
  const result = await deps.clients.resolveCustomer({
    projectId: call.project.id,
    customer,
    upsert: false,
    now: instantToProto(call.now),
  });
  if (result.customer === undefined && customer.id !== undefined) {
    throw notFound("customer", customer.id);
  }
  return result.customer;
}

import { invalidPayload, notFound } from "@scrip/errors";
import { instantToProto } from "@scrip/mapping";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { DecisionInput } from "../mapping/decision-input.ts";

/** A customer of a request is identified by an id or a source id, and never dropped without one. */
export function requireIdentity(customer: Partial<Customer> | undefined, property: string): void {
  if (customer === undefined || customer.id !== undefined || customer.sourceId !== undefined)
    return;
  throw invalidPayload(`Property ${property} should have required property 'id' or 'source_id'`);
}

/** Checks every customer that a decision's request names. */
export function requireIdentities({
  customer,
  order,
}: Pick<DecisionInput, "customer" | "order">): void {
  requireIdentity(customer, ".customer");
  requireIdentity(order?.customer, ".order.customer");
  requireIdentity(order?.referrer, ".order.referrer");
}

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
  const result = await deps.clients.resolveCustomer(
    {
      projectId: call.project.id,
      customer,
      upsert: false,
      now: instantToProto(call.now),
    },
    call,
  );
  if (result.customer === undefined && customer.id !== undefined) {
    throw notFound("customer", customer.id);
  }
  return result.customer;
}

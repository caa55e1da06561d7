import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";

import type { CustomerSnapshot } from "../domain/input/customer.ts";

export function customerToProto(customer: StoredCustomer): Customer {
  return {
    $typeName: "scrip.common.v1.Customer",
    id: customer.id,
    ...(customer.sourceId !== undefined && { sourceId: customer.sourceId }),
    ...(customer.name !== undefined && { name: customer.name }),
    ...(customer.email !== undefined && { email: customer.email }),
    ...(customer.metadata !== undefined && { metadata: customer.metadata }),
  };
}

/** The stored customer with the sent data on top; metadata is merged by key. */
export function customerFromProto(
  sent: Customer | undefined,
  stored: StoredCustomer | undefined,
): CustomerSnapshot | null {
  if (sent === undefined && stored === undefined) return null;
  return {
    id: stored?.id ?? null,
    sourceId: stored?.sourceId ?? sent?.sourceId ?? null,
    metadata: { ...stored?.metadata, ...sent?.metadata },
    birthdate: sent?.birthdate ?? sent?.birthday ?? stored?.birthdate ?? null,
    segments: [],
    loyaltyTiers: [],
  };
}

import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";

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

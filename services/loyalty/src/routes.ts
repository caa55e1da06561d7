import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { implement } from "@scrip/rpc";

import type { Deps } from "./deps.ts";
import { createCustomer } from "./handlers/create-customer.ts";
import { deleteCustomerPermanently } from "./handlers/delete-customer-permanently.ts";
import { deleteCustomer } from "./handlers/delete-customer.ts";
import { getCustomer } from "./handlers/get-customer.ts";
import { listCustomers } from "./handlers/list-customers.ts";
import { resolveCustomers } from "./handlers/resolve-customers.ts";
import { updateCustomer } from "./handlers/update-customer.ts";

/** The table of contents of this service: one line for each RPC. */
export const routes = (deps: Deps) => [
  implement(CustomerService, {
    createCustomer: createCustomer(deps),
    listCustomers: listCustomers(deps),
    getCustomer: getCustomer(deps),
    updateCustomer: updateCustomer(deps),
    deleteCustomer: deleteCustomer(deps),
    deleteCustomerPermanently: deleteCustomerPermanently(deps),
    resolveCustomers: resolveCustomers(deps),
  }),
];

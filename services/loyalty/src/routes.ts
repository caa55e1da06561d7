import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { implement } from "@scrip/rpc";

import type { Deps } from "./deps.ts";
import { resolveCustomers } from "./handlers/resolve-customers.ts";

/** The table of contents of this service: one line for each RPC. */
export const routes = (deps: Deps) => [
  implement(CustomerService, { resolveCustomers: resolveCustomers(deps) }),
];

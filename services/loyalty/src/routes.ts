import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import { implement } from "@scrip/rpc";

import type { Deps } from "./deps.ts";
import { createCustomer } from "./handlers/create-customer.ts";
import { createSegment } from "./handlers/create-segment.ts";
import { deleteCustomerPermanently } from "./handlers/delete-customer-permanently.ts";
import { deleteCustomer } from "./handlers/delete-customer.ts";
import { deleteSegment } from "./handlers/delete-segment.ts";
import { getCustomer } from "./handlers/get-customer.ts";
import { getSegment } from "./handlers/get-segment.ts";
import { listCustomerSegments } from "./handlers/list-customer-segments.ts";
import { listCustomers } from "./handlers/list-customers.ts";
import { listSegments } from "./handlers/list-segments.ts";
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
  implement(SegmentService, {
    createSegment: createSegment(deps),
    listSegments: listSegments(deps),
    getSegment: getSegment(deps),
    deleteSegment: deleteSegment(deps),
    listCustomerSegments: listCustomerSegments(deps),
  }),
];

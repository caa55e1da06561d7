import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { notFound } from "@scrip/errors";
import {
  type CustomerService,
  PermanentDeletionSchema,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import { requireCustomerId } from "../customer/require-customer.ts";
import type { Deps } from "../deps.ts";
import { customerDeletedEvent } from "../events/customer-deleted.ts";
import { deleteCustomer } from "../store/customers.ts";

/**
 * Returns the number of removed objects by kind. Orders and redemptions belong to other services, which
 * remove their data after the event; of the orders, those known to be paid are counted.
 */
export const deleteCustomerPermanently =
  (deps: Deps): Handler<typeof CustomerService.method.deleteCustomerPermanently> =>
  async ({ customerId }, { project, now }) => {
    const id = await requireCustomerId(deps.db, project.id, customerId);
    const event = customerDeletedEvent({
      projectId: project.id,
      customerId: id,
      at: now,
      permanent: true,
    });
    const removed = await deleteCustomer(deps.db, project.id, id, event);
    if (removed === undefined) throw notFound("customer", customerId);
    deps.onEvents();
    return create(PermanentDeletionSchema, {
      id: deps.newId("del"),
      relatedObjectId: id,
      relatedObject: "customer",
      status: "DONE",
      dataJson: { customer: 1n, segments: removed.segments, orders: removed.orders },
      createdAt: timestampFromMs(now),
    });
  };

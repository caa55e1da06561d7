import { create } from "@bufbuild/protobuf";
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
 * Tells what was removed, by kind. Customers have no activity yet; orders and redemptions belong to
 * services that learn of it by an event, and of orders those are told that were known to be paid.
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
    });
  };

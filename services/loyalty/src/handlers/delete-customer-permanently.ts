import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type CustomerService,
  PermanentDeletionSchema,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import { deleteAndAnnounce } from "../customer/delete-and-announce.ts";
import type { Deps } from "../deps.ts";

/**
 * Returns the number of removed objects by kind. Orders and redemptions belong to other services, which
 * remove their data after the event; of the orders, those known to be paid are counted.
 */
export const deleteCustomerPermanently =
  (deps: Deps): Handler<typeof CustomerService.method.deleteCustomerPermanently> =>
  async ({ customerId }, call) => {
    const { id, removed } = await deleteAndAnnounce(deps, call, { customerId, permanent: true });
    return create(PermanentDeletionSchema, {
      id: deps.newId("del"),
      relatedObjectId: id,
      relatedObject: "customer",
      status: "DONE",
      dataJson: {
        customer: 1n,
        segments: removed.segments,
        orders: removed.orders,
        events: removed.events,
      },
      createdAt: timestampFromMs(call.now),
    });
  };

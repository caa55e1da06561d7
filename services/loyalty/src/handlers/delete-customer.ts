import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { notFound } from "@scrip/errors";
import type { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import { requireCustomerId } from "../customer/require-customer.ts";
import type { Deps } from "../deps.ts";
import { customerDeletedEvent } from "../events/customer-deleted.ts";
import { deleteCustomer as remove } from "../store/customers.ts";

export const deleteCustomer =
  (deps: Deps): Handler<typeof CustomerService.method.deleteCustomer> =>
  async ({ customerId }, { project, now }) => {
    const id = await requireCustomerId(deps.db, project.id, customerId);
    const event = customerDeletedEvent({
      projectId: project.id,
      customerId: id,
      at: now,
      permanent: false,
    });
    const removed = await remove(deps.db, project.id, id, event);
    if (removed === undefined) throw notFound("customer", customerId);
    deps.onEvents();
    return create(EmptySchema);
  };

import { notFound } from "@scrip/errors";
import type { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import { describeCustomer } from "../customer/describe-customers.ts";
import { requireCustomerId } from "../customer/require-customer.ts";
import type { Deps } from "../deps.ts";
import { customerChangeOf } from "../domain/customer.ts";
import { mergeCustomer } from "../store/customers.ts";

export const updateCustomer =
  (deps: Deps): Handler<typeof CustomerService.method.updateCustomer> =>
  async (request, { project, now }) => {
    const id = await requireCustomerId(deps.db, project.id, request.customerId);
    const change = customerChangeOf(request, request.updateMask?.paths);
    const at = new Date(now);
    const changed = await mergeCustomer(deps.db, { projectId: project.id, id, change, at });
    if (changed === undefined) throw notFound("customer", request.customerId);
    return describeCustomer(deps, project.id, id);
  };

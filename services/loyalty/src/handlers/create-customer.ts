import { notFound } from "@scrip/errors";
import type { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import { describeCustomer } from "../customer/describe-customers.ts";
import type { Deps } from "../deps.ts";
import { customerChangeOf } from "../domain/customer.ts";
import { mergeCustomer, upsertCustomer } from "../store/customers.ts";

export const createCustomer =
  (deps: Deps): Handler<typeof CustomerService.method.createCustomer> =>
  async (request, { project, now }) => {
    const change = customerChangeOf(request, request.updateMask?.paths);
    const at = new Date(now);
    if (request.id !== undefined) {
      const known = await mergeCustomer(deps.db, {
        projectId: project.id,
        id: request.id,
        change,
        at,
      });
      if (known === undefined) throw notFound("customer", request.id);
      return describeCustomer(deps.db, project.id, known.id);
    }
    const id = await upsertCustomer(deps.db, {
      projectId: project.id,
      newId: deps.newId("cust"),
      sourceId: request.sourceId ?? null,
      change,
      at,
    });
    return describeCustomer(deps.db, project.id, id);
  };

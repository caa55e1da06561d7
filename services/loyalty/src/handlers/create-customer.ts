import { notFound } from "@scrip/errors";
import type { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import { requireProfile } from "../customer/require-customer.ts";
import type { Deps } from "../deps.ts";
import { changeOf } from "../domain/customer.ts";
import { toProfile } from "../mapping/customer.ts";
import { mergeCustomer, upsertCustomer } from "../store/customers.ts";

export const createCustomer =
  (deps: Deps): Handler<typeof CustomerService.method.createCustomer> =>
  async (request, { project, now }) => {
    const change = changeOf(request, request.updateMask?.paths);
    const at = new Date(now);
    if (request.id !== undefined) {
      const known = await mergeCustomer(deps.db, {
        projectId: project.id,
        id: request.id,
        change,
        at,
      });
      if (known === undefined) throw notFound("customer", request.id);
      return toProfile(await requireProfile(deps.db, project.id, known.id));
    }
    const id = await upsertCustomer(deps.db, {
      projectId: project.id,
      newId: deps.newId("cust"),
      sourceId: request.sourceId ?? null,
      change,
      at,
    });
    return toProfile(await requireProfile(deps.db, project.id, id));
  };

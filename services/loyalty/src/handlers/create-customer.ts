import { create } from "@bufbuild/protobuf";
import { invalidPayload, notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import {
  type CreateCustomerRequest,
  type CustomerProfile,
  CustomerProfileSchema,
  type CustomerService,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import { describeCustomer } from "../customer/describe-customers.ts";
import { publishCustomers } from "../customer/resolve-and-publish.ts";
import type { Deps } from "../deps.ts";
import { type Customer, customerChangeOf, customerKeyOf } from "../domain/customer.ts";
import { findCustomersBy, mergeCustomer, upsertCustomer } from "../store/customers.ts";

export const createCustomer =
  (deps: Deps): Handler<typeof CustomerService.method.createCustomer> =>
  async (request, call) => {
    const { project, now, caller } = call;
    if (request.id === undefined && request.sourceId === undefined) {
      throw invalidPayload("Property 'id' or 'source_id' is required");
    }
    const change = customerChangeOf(request, request.updateMask?.paths);
    const at = new Date(now);
    const isClientSide = caller.side === "client";
    if (isClientSide) {
      const known = await findCustomer(deps.db, project.id, request);
      if (known !== undefined) return identityToProto(known);
    }
    if (request.id !== undefined) {
      const known = await mergeCustomer(deps.db, {
        projectId: project.id,
        id: request.id,
        change,
        at,
      });
      if (known === undefined) throw notFound("customer", request.id);
      return describeCustomer(deps, project.id, known.id);
    }
    const newId = deps.newId("cust");
    const id = await upsertCustomer(deps.db, {
      projectId: project.id,
      newId,
      sourceId: request.sourceId ?? null,
      change,
      at,
      changesStored: !isClientSide,
    });
    if (!isClientSide) return describeCustomer(deps, project.id, id);
    if (id === newId) await publishCustomers(deps.db, new Map([[id, "customer.created"]]), call);
    return identityToProto({ id, sourceId: request.sourceId ?? null });
  };

/** The customer that a request identifies. */
async function findCustomer(
  db: Queryable,
  projectId: string,
  request: CreateCustomerRequest,
): Promise<Customer | undefined> {
  const key = customerKeyOf(projectId, request);
  if (key === undefined) return undefined;
  const [found] = await findCustomersBy(db, key.column, [key]);
  if (found === undefined && key.column === "id") throw notFound("customer", key.value);
  return found;
}

/** All that client-side callers see of a customer. */
const identityToProto = ({ id, sourceId }: Pick<Customer, "id" | "sourceId">): CustomerProfile =>
  create(CustomerProfileSchema, { id, ...(sourceId !== null && { sourceId }) });

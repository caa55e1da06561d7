import { notFound } from "@scrip/errors";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { customerDeletedEvent } from "../events/customer-deleted.ts";
import { deleteCustomer } from "../store/customers.ts";
import { requireCustomerId } from "./require-customer.ts";

/** Deletes a customer by id or source id and writes the event; returns the id and what was removed with them. */
export async function deleteAndAnnounce(
  deps: Deps,
  call: Pick<Call, "project" | "now" | "requestId" | "caller">,
  { customerId, permanent }: { readonly customerId: string; readonly permanent: boolean },
) {
  const { project, now } = call;
  const id = await requireCustomerId(deps.db, project.id, customerId);
  const event = customerDeletedEvent({ projectId: project.id, customerId: id, at: now, permanent });
  const removed = await deleteCustomer(deps.db, project.id, id, { ...event, origin: call });
  if (removed === undefined) throw notFound("customer", customerId);
  deps.onEvents();
  return { id, removed };
}

import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import type { CustomerProfile } from "../domain/customer.ts";
import { findCustomerId, findProfile } from "../store/customer-profiles.ts";

/** The customer that a path or a request names, or `not_found`. */
export async function requireCustomerProfile(
  db: Queryable,
  projectId: string,
  idOrSourceId: string,
): Promise<CustomerProfile> {
  const profile = await findProfile(db, projectId, idOrSourceId);
  if (profile === undefined) throw notFound("customer", idOrSourceId);
  return profile;
}

export async function requireCustomerId(
  db: Queryable,
  projectId: string,
  idOrSourceId: string,
): Promise<string> {
  const id = await findCustomerId(db, projectId, idOrSourceId);
  if (id === undefined) throw notFound("customer", idOrSourceId);
  return id;
}

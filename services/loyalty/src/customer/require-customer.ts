import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import { findCustomerId } from "../store/customer-profiles.ts";

/** The id of the customer that a path or a request names, or `not_found`. */
export async function requireCustomerId(
  db: Queryable,
  projectId: string,
  idOrSourceId: string,
): Promise<string> {
  const id = await findCustomerId(db, projectId, idOrSourceId);
  if (id === undefined) throw notFound("customer", idOrSourceId);
  return id;
}

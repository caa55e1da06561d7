import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import type { CustomerProfile as ProfileMessage } from "@scrip/proto/scrip/loyalty/v1/customers_pb";

import type { CustomerProfile } from "../domain/customer.ts";
import { customerToProto } from "../mapping/customer.ts";
import { findProfile } from "../store/customer-profiles.ts";
import { findReferralFigures } from "../store/referrals.ts";

/** Customers as responses show them, with their referrals. */
export async function describeCustomers(
  db: Queryable,
  projectId: string,
  profiles: readonly CustomerProfile[],
): Promise<ProfileMessage[]> {
  const ids = profiles.map(({ id }) => id);
  const figures = await findReferralFigures(db, projectId, ids);
  return profiles.map((profile) => customerToProto(profile, figures.get(profile.id)));
}

/** The customer that a path or a request names, or `not_found`. */
export async function describeCustomer(
  db: Queryable,
  projectId: string,
  idOrSourceId: string,
): Promise<ProfileMessage> {
  const profile = await findProfile(db, projectId, idOrSourceId);
  const [described] = await describeCustomers(
    db,
    projectId,
    profile === undefined ? [] : [profile],
  );
  if (described === undefined) throw notFound("customer", idOrSourceId);
  return described;
}

import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import type { CustomerProfile as ProfileMessage } from "@scrip/proto/scrip/loyalty/v1/customers_pb";

import type { Deps } from "../deps.ts";
import type { CustomerProfile } from "../domain/customer.ts";
import { keyOf } from "../domain/key.ts";
import { customerToProto } from "../mapping/customer.ts";
import { findProfile } from "../store/customer-profiles.ts";
import { findReferralFigures } from "../store/referrals.ts";
import { type CustomerTier, findTiersOfCustomers } from "../tiers/holder-tiers.ts";

type DescribeDeps = Pick<Deps, "tiers"> & { readonly db: Queryable };

/** Customers as responses show them, with their referrals and loyalty tiers. */
export async function describeCustomers(
  deps: DescribeDeps,
  projectId: string,
  profiles: readonly CustomerProfile[],
): Promise<ProfileMessage[]> {
  const ids = profiles.map(({ id }) => id);
  const [figures, tiers] = await Promise.all([
    findReferralFigures(deps.db, projectId, ids),
    findTiersOfCustomers(
      deps,
      ids.map((customerId) => ({ projectId, customerId })),
    ),
  ]);
  return profiles.map((profile) =>
    customerToProto(
      profile,
      figures.get(profile.id),
      tierNames(tiers.get(keyOf(projectId, profile.id)) ?? []),
    ),
  );
}

/** By program. */
const tierNames = (tiers: readonly CustomerTier[]): Readonly<Record<string, string>> =>
  Object.fromEntries(tiers.map(({ campaignId, tier }) => [campaignId, tier.name]));

/** The customer that a path or a request names, or `not_found`. */
export async function describeCustomer(
  deps: DescribeDeps,
  projectId: string,
  idOrSourceId: string,
): Promise<ProfileMessage> {
  const profile = await findProfile(deps.db, projectId, idOrSourceId);
  const [described] = await describeCustomers(
    deps,
    projectId,
    profile === undefined ? [] : [profile],
  );
  if (described === undefined) throw notFound("customer", idOrSourceId);
  return described;
}

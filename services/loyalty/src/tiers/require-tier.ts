import { notFound } from "@scrip/errors";

import type { Deps } from "../deps.ts";
import type { Tier } from "../domain/tiers/tier.ts";
import { findTier } from "../store/loyalty-tiers.ts";

/** A tier of a program, or `not_found`. */
export async function requireTier(
  { db }: Pick<Deps, "db">,
  reference: { readonly projectId: string; readonly campaignId: string; readonly id: string },
): Promise<Tier> {
  const tier = await findTier(db, reference);
  if (tier === undefined) throw notFound("loyalty_tier", reference.id);
  return tier;
}

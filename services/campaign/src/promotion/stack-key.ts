import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import { findCampaign } from "../store/campaigns.ts";

/** Resolves the campaign of a stack, which paths name by id or name. */
export async function resolveStackKey(
  db: Queryable,
  projectId: string,
  { campaignId, stackId }: { readonly campaignId: string; readonly stackId: string },
): Promise<{ readonly projectId: string; readonly campaignId: string; readonly id: string }> {
  const found = await findCampaign(db, projectId, campaignId);
  if (found === undefined) throw notFound("campaign", campaignId);
  return { projectId, campaignId: found.campaign.id, id: stackId };
}

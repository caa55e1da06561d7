import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import { findCampaign } from "../store/campaigns.ts";

/** A stack as paths name it: by its campaign's id or name, and its own id. */
export async function stackNameOf(
  db: Queryable,
  projectId: string,
  { campaignId, stackId }: { readonly campaignId: string; readonly stackId: string },
): Promise<{ readonly projectId: string; readonly campaignId: string; readonly id: string }> {
  const found = await findCampaign(db, projectId, campaignId);
  if (found === undefined) throw notFound("campaign", campaignId);
  return { projectId, campaignId: found.campaign.id, id: stackId };
}

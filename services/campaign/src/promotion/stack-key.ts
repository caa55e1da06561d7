import type { Queryable } from "@scrip/postgres";

import { requireCampaign } from "../campaign/require-campaign.ts";
import type { StackKey } from "../store/promotion-stacks.ts";

/** Resolves the campaign of a stack, which paths name by id or name. */
export async function resolveStackKey(
  db: Queryable,
  projectId: string,
  { campaignId, stackId }: { readonly campaignId: string; readonly stackId: string },
): Promise<StackKey> {
  const found = await requireCampaign(db, projectId, campaignId);
  return { projectId, campaignId: found.campaign.id, id: stackId };
}

import { notFound } from "@scrip/errors";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findCampaign, updateCampaignActive } from "../store/campaigns.ts";

/** Activates or deactivates a campaign, without its lock. Repeating it changes nothing. */
export async function setCampaignActive(
  deps: Deps,
  { project, now }: Call,
  { campaignId, active }: { readonly campaignId: string; readonly active: boolean },
): Promise<void> {
  const found = await findCampaign(deps.db, project.id, campaignId);
  if (found === undefined) throw notFound("campaign", campaignId);
  const { id } = found.campaign;
  await deps.definitions.write(project.id, (tx) =>
    updateCampaignActive(tx, project.id, { id, active, at: now }),
  );
}

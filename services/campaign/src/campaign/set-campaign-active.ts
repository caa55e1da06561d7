import { notFound } from "@scrip/errors";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findCampaign, switchCampaign } from "../store/campaigns.ts";

/** Switches a campaign on or off, also while others change it; one that is already so stays untouched. */
export async function setActive(
  deps: Deps,
  { project, now }: Call,
  { campaignId, active }: { readonly campaignId: string; readonly active: boolean },
): Promise<void> {
  const found = await findCampaign(deps.db, project.id, campaignId);
  if (found === undefined) throw notFound("campaign", campaignId);
  const { id } = found.campaign;
  await deps.definitions.write(project.id, (tx) =>
    switchCampaign(tx, project.id, { id, active, at: now }),
  );
}

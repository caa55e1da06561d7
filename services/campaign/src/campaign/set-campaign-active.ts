import { enqueue } from "@scrip/events";
import { CampaignChanged_Change } from "@scrip/proto/scrip/events/v1/campaigns_pb";
import { type Call, stepCall } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { campaignChanged } from "../events/campaign-events.ts";
import { announceLoyaltyProgram } from "../events/loyalty-program-changed.ts";
import { updateCampaignActive } from "../store/campaigns.ts";
import { requireCampaign } from "./require-campaign.ts";

/** Activates or deactivates a campaign, without its lock. Idempotent. */
export async function setCampaignActive(
  deps: Deps,
  call: Call,
  { campaignId, active }: { readonly campaignId: string; readonly active: boolean },
): Promise<void> {
  const { project, now } = call;
  const found = await requireCampaign(deps.db, project.id, campaignId);
  const { id } = found.campaign;
  await deps.definitions.write(project.id, async (tx) => {
    if (!(await updateCampaignActive(tx, project.id, { id, active, at: now }))) return;
    const change = CampaignChanged_Change[active ? "ENABLED" : "DISABLED"];
    const event = campaignChanged(deps.newId("event"), found.campaign, { call, change });
    await enqueue(tx, [event], call);
    await announceLoyaltyProgram(tx, call, { id });
  });
  deps.onEvents();
  // Conversions and rewards of referral programs need it, also when a request is repeated.
  if (found.campaign.voucher !== null) {
    await deps.vouchers.updateVouchers({ campaignId: id, active }, stepCall(call, "vouchers"));
  }
}

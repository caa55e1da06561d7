import type { Callers } from "@scrip/rpc";

/** Who of Scrip's services may call the RPCs of each group, besides the public ones, which the gateway may call. */
export const CALLERS: Callers = {
  "scrip.campaign.v1.CampaignImportService": ["export"],
  "scrip.campaign.v1.CampaignJobService": ["export"],
  "scrip.campaign.v1.CampaignService": ["gateway", "validation", "export"],
  "scrip.campaign.v1.CategoryService": ["gateway", "validation", "export"],
  "scrip.campaign.v1.TrashBinService": ["export"],
};

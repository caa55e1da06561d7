import type { Callers } from "@scrip/rpc";

/** Who of Scrip's services may call the RPCs of each group, besides the public ones, which the gateway may call. */
export const CALLERS: Callers = {
  "scrip.export.v1.CampaignActionService": ["gateway"],
  "scrip.export.v1.ExportService": ["gateway"],
  "scrip.export.v1.ImportService": ["gateway"],
  "scrip.export.v1.WebhookService": ["gateway"],
};

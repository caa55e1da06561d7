import type { CampaignImportService } from "@scrip/proto/scrip/campaign/v1/voucher_imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { endImport as end } from "../store/campaign-imports.ts";

export const endImport =
  ({ db }: Deps): Handler<typeof CampaignImportService.method.endImport> =>
  async ({ campaignId, importId }, { project: { id: projectId } }) => {
    await end(db, { projectId, campaignId, importId });
    return { $typeName: "scrip.campaign.v1.EndImportResponse" };
  };

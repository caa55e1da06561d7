import type { CampaignImportService } from "@scrip/proto/scrip/campaign/v1/voucher_imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { beginImport as begin } from "../store/campaign-imports.ts";

export const beginImport =
  ({ db }: Deps): Handler<typeof CampaignImportService.method.beginImport> =>
  async ({ campaignId, importId }, { project: { id: projectId } }) => {
    await begin(db, { projectId, campaignId, importId });
    return { $typeName: "scrip.campaign.v1.BeginImportResponse" };
  };

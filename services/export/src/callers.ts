import { CampaignActionService } from "@scrip/proto/scrip/export/v1/campaign_actions_pb";
import { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Callers } from "@scrip/rpc";

/** What other services of Scrip may call here. The gateway may also call the public RPCs. */
export const CALLERS: Callers = {
  gateway: [
    CampaignActionService.method.generateCampaignVouchers,
    ExportService.method.downloadExport,
    ExportService.method.downloadReport,
    ImportService.method.appendImportFile,
  ],
};

import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { requireCampaign } from "../imports/require-campaign.ts";
import { startFile } from "../imports/start-import.ts";

export const importCampaignVouchersCsv =
  (deps: Deps): Handler<typeof ImportService.method.importCampaignVouchersCsv> =>
  async ({ campaignId: idOrName, fileId, metadataSchemas: schemas }, call) =>
    startFile(deps, call, {
      type: "CAMPAIGN.VOUCHERS_IMPORT_CSV",
      kind: deps.importKinds.campaignVouchers,
      campaignId: await requireCampaign(deps, call, idOrName),
      fileId,
      schemas,
    });

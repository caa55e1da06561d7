import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { requireCampaign } from "../imports/require-campaign.ts";
import { startCampaignImport } from "../imports/start-campaign-import.ts";
import { startFile } from "../imports/start-import.ts";

export const importCampaignVouchersCsv =
  (deps: Deps): Handler<typeof ImportService.method.importCampaignVouchersCsv> =>
  async ({ campaignId: idOrName, fileId, metadataSchemas: schemas }, call) => {
    const campaignId = await requireCampaign(deps, call, idOrName);
    return startCampaignImport(deps, call, campaignId, async (steps, id) =>
      startFile(steps, call, {
        id,
        type: "CAMPAIGN.VOUCHERS_IMPORT_CSV",
        kind: deps.importKinds.campaignVouchers,
        campaignId,
        fileId,
        schemas,
      }),
    );
  };

import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { requireNewCodes } from "../imports/check-codes.ts";
import { requireCampaign } from "../imports/require-campaign.ts";
import { startCampaignImport } from "../imports/start-campaign-import.ts";
import { startItems } from "../imports/start-import.ts";
import { importedVoucherFromRequest } from "../mapping/voucher-to-import.ts";

export const importCampaignVouchers =
  (deps: Deps): Handler<typeof ImportService.method.importCampaignVouchers> =>
  async ({ campaignId: idOrName, vouchers, metadataSchemas: schemas }, call) => {
    const campaignId = await requireCampaign(deps, call, idOrName);
    return startCampaignImport(deps, call, campaignId, async (steps, id) => {
      await requireNewCodes(deps, call, vouchers);
      return startItems(steps, call, {
        id,
        type: "CAMPAIGN.VOUCHERS_IMPORT",
        kind: deps.importKinds.campaignVouchers,
        items: vouchers.map(importedVoucherFromRequest),
        campaignId,
        schemas,
      });
    });
  };

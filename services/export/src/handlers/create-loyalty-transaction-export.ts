import type { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { requireCampaign, requireVoucher } from "../export/require-scope.ts";
import { startExport } from "../export/start-export.ts";
import { parametersFromProto } from "../mapping/parameters.ts";

export const createLoyaltyTransactionExport =
  (deps: Deps): Handler<typeof ExportService.method.createLoyaltyTransactionExport> =>
  async ({ campaignId, memberId, parameters, order }, call) => {
    const campaign =
      campaignId === undefined
        ? undefined
        : await requireCampaign(deps, call, campaignId, "loyalty");
    const card =
      memberId === undefined
        ? undefined
        : await requireVoucher(deps, call, memberId, {
            balance: "loyalty",
            campaignId: campaign?.id,
          });
    return startExport(deps, call, {
      object: "voucher_transactions",
      parameters: parametersFromProto(parameters, order),
      scope: card === undefined ? { campaignId: campaign?.id } : { voucherId: card.id },
      balance: "loyalty",
    });
  };

import type { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { requireCampaign } from "../export/require-scope.ts";
import { startExport } from "../export/start-export.ts";
import { parametersFromProto } from "../mapping/parameters.ts";

export const createPointsExpirationExport =
  (deps: Deps): Handler<typeof ExportService.method.createPointsExpirationExport> =>
  async ({ campaignId, parameters, order }, call) => {
    const { id } = await requireCampaign(deps, call, campaignId, "loyalty");
    return startExport(deps, call, {
      object: "points_expiration",
      parameters: parametersFromProto(parameters, order),
      scope: { campaignId: id },
    });
  };

import type { CampaignActionService } from "@scrip/proto/scrip/export/v1/campaign_actions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteCampaign } from "./delete-campaign.ts";

/** The gateway has replaced the name by the id, and rejected other campaigns. */
export const deleteLoyaltyProgram =
  (deps: Deps): Handler<typeof CampaignActionService.method.deleteLoyaltyProgram> =>
  (request, call) =>
    deleteCampaign(deps)(
      { ...request, $typeName: "scrip.export.v1.DeleteCampaignRequest", $unknown: undefined },
      call,
    );

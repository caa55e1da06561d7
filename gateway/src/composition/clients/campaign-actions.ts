import type { Transport } from "@connectrpc/connect";
import type { CreateCampaignVouchersRequest } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { AsyncActionStarted } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import { CampaignActionService } from "@scrip/proto/scrip/export/v1/campaign_actions_pb";
import { type Call, clientOf } from "@scrip/rpc";

/** Starts work on many vouchers of a campaign. */
export type CampaignActions = {
  generateVouchers(
    vouchers: CreateCampaignVouchersRequest,
    call: Call,
  ): Promise<AsyncActionStarted>;
};

export function createCampaignActionsClient(transport: Transport): CampaignActions {
  const client = clientOf(CampaignActionService, transport);
  return {
    generateVouchers: (vouchers, call) => client.generateCampaignVouchers({ vouchers }, call),
  };
}

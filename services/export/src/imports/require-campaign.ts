import { ApiError } from "@scrip/errors";
import { CampaignKind, CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Call } from "@scrip/rpc";

import type { Clients } from "../clients.ts";

/** The id of a campaign that takes vouchers. */
export async function requireCampaign(
  { campaigns }: Pick<Clients, "campaigns">,
  call: Call,
  idOrName: string,
): Promise<string> {
  const { id, campaignType, type } = await campaigns.getCampaign(
    { campaignId: idOrName },
    { ...call, idempotency: undefined },
  );
  const kind =
    type === CampaignKind.STANDALONE
      ? "STANDALONE type"
      : campaignType === CampaignType.PROMOTION
        ? "PROMOTION"
        : undefined;
  if (kind === undefined) return id;
  throw new ApiError("invalid_campaign", {
    details: `You can not generate vouchers for ${kind} campaign.`,
  });
}

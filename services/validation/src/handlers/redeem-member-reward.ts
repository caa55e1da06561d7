import { create } from "@bufbuild/protobuf";
import { notFound } from "@scrip/errors";
import {
  type RedeemMemberRewardRequest,
  RedeemVoucherRequestSchema,
  type ValidationService,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Call, Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { redeemSingleVoucher } from "../redemption/redeem-single-voucher.ts";

export const redeemMemberReward =
  (deps: Deps): Handlers<typeof ValidationService>["redeemMemberReward"] =>
  async (sent, call) => {
    const { memberId, reward, order, metadata, voucher } = sent;
    if (voucher === undefined || !voucher.isLoyaltyCard) throw notFound("voucher", memberId);
    await requireProgram(deps, sent, call);
    const request = create(RedeemVoucherRequestSchema, {
      code: voucher.code,
      ...(voucher.holderId !== undefined && { customer: { id: voucher.holderId } }),
      ...(reward !== undefined && { reward }),
      ...(order !== undefined && { order }),
      ...(metadata !== undefined && { metadata }),
    });
    return redeemSingleVoucher(deps, call, request);
  };

/** A card of another program than that in the path is unknown there. The gateway resolves one reference of a request. */
async function requireProgram(
  { clients }: Deps,
  { memberId, campaignId, voucher }: RedeemMemberRewardRequest,
  call: Call,
): Promise<void> {
  if (campaignId === undefined || campaignId === voucher?.campaignId) return;
  const query = { projectId: call.project.id, campaignNames: [campaignId] };
  const [campaign] = (await clients.resolveCampaigns(query, call)).campaigns;
  if (campaign === undefined || campaign.id !== voucher?.campaignId) {
    throw notFound("voucher", memberId);
  }
}

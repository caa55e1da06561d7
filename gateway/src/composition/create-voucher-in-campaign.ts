import { isMessage } from "@bufbuild/protobuf";
import { CreateVoucherRequestSchema } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import type { CompileStep } from "./step.ts";

export const createVoucherInCampaignStep: CompileStep = ({ rpc }, { campaigns }) => {
  if (rpc.input !== CreateVoucherRequestSchema || campaigns === undefined) return undefined;
  return (next) => (message, call) => {
    if (!isMessage(message, CreateVoucherRequestSchema)) return next(message, call);
    const isInCampaign = message.campaignId !== undefined || message.campaign !== undefined;
    return isInCampaign ? campaigns.createVoucher(message, call) : next(message, call);
  };
};

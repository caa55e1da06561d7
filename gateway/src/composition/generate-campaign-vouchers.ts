import { isMessage } from "@bufbuild/protobuf";
import { CreateCampaignVouchersRequestSchema } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";

import type { CompileStep } from "./step.ts";

export const generateCampaignVouchersStep: CompileStep = ({ rpc }, { campaignActions }) => {
  if (rpc.input !== CreateCampaignVouchersRequestSchema || campaignActions === undefined) {
    return undefined;
  }
  return (next) => (message, call) => {
    if (!isMessage(message, CreateCampaignVouchersRequestSchema)) return next(message, call);
    const isOne = (message.vouchersCount ?? 1n) === 1n;
    return isOne ? next(message, call) : campaignActions.generateVouchers(message, call);
  };
};

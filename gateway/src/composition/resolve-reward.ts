import type { JsonObject } from "@bufbuild/protobuf";
import { ruleOf } from "@scrip/contract";
import { invalidPayload } from "@scrip/errors";
import type { Reward } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { Reference } from "@scrip/proto/scrip/options/v1/options_pb";

import type { CompileStep, MessageFields } from "./step.ts";

/** Campaign, which owns referral tiers, must not call the service that owns rewards. */
export const resolveRewardStep: CompileStep = ({ rpc }, { rewards }) => {
  const field = rpc.input.fields.find(
    (each) => ruleOf(each).reference === Reference.REWARD,
  )?.localName;
  if (field === undefined || rewards === undefined) return undefined;
  return (next) => async (message, call) => {
    const requested = (message as MessageFields)[field] as JsonObject | undefined;
    const id = requested?.["reward_id"];
    if (id === undefined || id === null) return next(message, call);
    if (typeof id !== "string") throw invalidPayload("Property .reward.reward_id must be string");
    const terms = termsOf(await rewards.load(id, call));
    return next({ ...(message as MessageFields), [field]: terms }, call);
  };
};

const VOUCHER_TYPES: Readonly<Record<string, string>> = {
  DISCOUNT_COUPONS: "DISCOUNT_VOUCHER",
  GIFT_VOUCHERS: "GIFT_VOUCHER",
  LOYALTY_PROGRAM: "LOYALTY_CARD",
};

/** What the reward gives at present, in the JSON form of a reward without `reward_id`. */
function termsOf({ id, parameters }: Reward): JsonObject {
  const { id: campaignId, type: campaignType = "", balance } = parameters?.campaign ?? {};
  const type = VOUCHER_TYPES[campaignType];
  if (campaignId === undefined || type === undefined) {
    throw invalidPayload("Property .reward.reward_id must name a reward of type CAMPAIGN");
  }
  return {
    reward_id: id,
    related_object_parent: { id: campaignId },
    type,
    // One coupon.
    amount: Number(balance ?? 1n),
  };
}

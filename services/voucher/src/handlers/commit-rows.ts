import { toBinary } from "@bufbuild/protobuf";
import { CustomerSchema } from "@scrip/proto/scrip/common/v1/customer_pb";
import { PromotionTierSummarySchema } from "@scrip/proto/scrip/common/v1/promotion_tier_pb";

import type { NewRedemption } from "../store/commits.ts";
import { type Command, tierOf } from "./commit-command.ts";
import { encodeExplanation } from "./explanation-bytes.ts";

/** What the row of a part has of its command, whether it was made or refused. */
export function rowOf(
  command: Command,
  part: number,
  { id, parentId }: { readonly id: string; readonly parentId: string | null },
) {
  const { voucherId = null, tierId = null, campaignId = null } = command.parts[part] ?? {};
  const message = command.message.parts[part];
  const tier = message && tierOf(message);
  const explanation = message?.explanation;
  return {
    ...commandRow(command),
    id,
    parentId,
    voucherId,
    tierId,
    campaignId,
    tier: tier === undefined ? null : toBinary(PromotionTierSummarySchema, tier),
    explanation: explanation === undefined ? null : encodeExplanation(explanation),
  };
}

/** The row that stands for all parts of a command. It counts nowhere. */
export const parentRow = (command: Command, id: string) => ({
  ...commandRow(command),
  id,
  parentId: null,
  voucherId: null,
  tierId: null,
  campaignId: null,
  tier: null,
  explanation: null,
});

function commandRow({ message, projectId, at }: Command) {
  return {
    projectId,
    createdAt: at,
    customerId: message.customerId ?? null,
    trackingId: message.trackingId ?? null,
    metadata: message.metadata === undefined ? null : JSON.stringify(message.metadata),
    channelId: message.channel?.channelId ?? "",
    channelType: message.channel?.channelType ?? "API",
    customer: message.customer === undefined ? null : toBinary(CustomerSchema, message.customer),
    sessionKey: message.sessionKey ?? null,
    requestId: message.requestId,
    orderAmount: null,
    discountedAmount: null,
    units: null,
  } satisfies Partial<NewRedemption>;
}

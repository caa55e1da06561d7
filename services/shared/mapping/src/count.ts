import {
  type Count as CountMessage,
  CountMeasure as MeasureMessage,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Count, CountScope } from "@scrip/rules";

import { enumName } from "./enum-name.ts";
import { instantFromProto, instantToProto } from "./instant.ts";

export const countToProto = (count: Count): CountMessage => ({
  $typeName: "scrip.voucher.v1.Count",
  scope: { case: SCOPE_CASES[count.scope.kind], value: count.scope.id },
  measure: MeasureMessage[count.measure],
  ...(count.customerId !== null && { customerId: count.customerId }),
  ...(count.channelId !== null && { channelId: count.channelId }),
  ...(count.since !== null && { since: instantToProto(count.since) }),
  ...(count.productId !== null && { productId: count.productId }),
});

export function countFromProto(message: CountMessage): Count {
  const { scope, measure, customerId, channelId, since, productId } = message;
  if (scope.case === undefined) throw new Error("a count has no scope");
  return {
    scope: { kind: SCOPE_KINDS[scope.case], id: scope.value },
    // A caller of a newer version may send a measure that is unknown here.
    measure: enumName(MeasureMessage, measure) ?? "REDEMPTIONS",
    customerId: customerId ?? null,
    channelId: channelId ?? null,
    since: since === undefined ? null : instantFromProto(since),
    productId: productId ?? null,
  };
}

const SCOPE_CASES = {
  voucher: "voucherId",
  promotion_tier: "promotionTierId",
  campaign: "campaignId",
} as const;

const SCOPE_KINDS = {
  voucherId: "voucher",
  promotionTierId: "promotion_tier",
  campaignId: "campaign",
} as const satisfies Record<string, CountScope["kind"]>;

import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import type { RedeemedPoints, Redemption } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { encodeRedemptionMade, REDEMPTIONS_TOPIC } from "../events/redemption-made.ts";
import type { KeptOrder } from "./build-orders.ts";
import type { RenderParts } from "./build-outcomes.ts";
import { type Command, nowOf } from "./parse-command.ts";

/**
 * One event for each redemption that took something. The order is stored from the last of a command,
 * once and as all of them left it.
 */
export function announce(
  { message, projectId, parts: sent }: Command,
  redemptions: readonly Redemption[],
  {
    order,
    parentId,
    parts: { draft, context },
  }: {
    readonly order: KeptOrder | null;
    readonly parentId: string | null;
    readonly parts: RenderParts;
  },
): void {
  for (const [part, redemption] of redemptions.entries()) {
    const one = sent[part];
    if (one === undefined) throw new Error("a part that was not sent was redeemed");
    const { voucherId, tierId, campaignId } = one;
    const isLast = part === redemptions.length - 1;
    draft.events.push({
      projectId,
      id: context.newId("event"),
      topic: REDEMPTIONS_TOPIC,
      type: RedemptionMadeSchema.typeName,
      key: voucherId ?? tierId ?? "",
      payload: encodeRedemptionMade({
        projectId,
        redemptionId: redemption.id,
        voucherId,
        tierId,
        campaignId,
        customerId: message.customerId ?? null,
        date: nowOf(message),
        amount: redemption.gift?.amount ?? null,
        order: isLast && order !== null ? order.bytes : null,
        parentId,
        orderAmount: one.orderAmount,
        discountedAmount: one.discountedAmount,
        points: pointsOf(message.parts[part]?.points),
        sessionKey: message.sessionKey ?? null,
        overrides: isLast && order !== null ? message.overrides : [],
      }),
    });
  }
}

const pointsOf = (points: RedeemedPoints | undefined) =>
  points === undefined ? null : { points: points.points, spendId: points.holdId };

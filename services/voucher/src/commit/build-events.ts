import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import type { RedeemedPoints, Redemption } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { encodeRedemptionMade, REDEMPTIONS_TOPIC } from "../events/redemption-made.ts";
import { referralCodeRedeemed } from "../events/referrals.ts";
import { originFromProto } from "../mapping/origin.ts";
import type { OrderWithRedemption } from "./build-orders.ts";
import type { CommitBuild } from "./draft.ts";
import { type Command, requireNow } from "./parse-command.ts";

/**
 * Adds one event for each redemption but the parent, and one more for referral codes. Only the last event of a command carries the order, as
 * all parts left it, because consumers store the order from it.
 */
export function addRedemptionEvents(
  { message, projectId, parts: sent }: Command,
  redemptions: readonly Redemption[],
  {
    order,
    parentId,
    build: { draft, context },
  }: {
    readonly order: OrderWithRedemption | null;
    readonly parentId: string | null;
    readonly build: CommitBuild;
  },
): void {
  const origin = originFromProto(message);
  for (const [part, redemption] of redemptions.entries()) {
    const one = sent[part];
    if (one === undefined) throw new Error("the command has no such part");
    const { voucherId, tierId, campaignId } = one;
    const isLast = part === redemptions.length - 1;
    const referrerId = referrerOf(context.definitions, projectId, voucherId);
    const { customerId } = message;
    if (voucherId !== null && referrerId !== null && customerId !== undefined) {
      const date = requireNow(message);
      const redeemed = { projectId, redemptionId: redemption.id, voucherId, customerId, date };
      const event = referralCodeRedeemed(context.newId("event"), redeemed);
      draft.events.push({ ...event, traceparent: message.traceparent, origin });
    }
    draft.events.push({
      projectId,
      id: context.newId("event"),
      topic: REDEMPTIONS_TOPIC,
      type: RedemptionMadeSchema.typeName,
      key: voucherId ?? tierId ?? "",
      traceparent: message.traceparent,
      origin,
      payload: encodeRedemptionMade({
        projectId,
        redemptionId: redemption.id,
        voucherId,
        tierId,
        campaignId,
        customerId: message.customerId ?? null,
        date: requireNow(message),
        amount: redemption.gift?.amount ?? null,
        order: isLast && order !== null ? order.bytes : null,
        parentId,
        orderAmount: one.orderAmount,
        discountedAmount: one.discountedAmount,
        points: pointsOf(message.parts[part]?.points, () =>
          draft.rewards.some(({ redemptionId }) => redemptionId === redemption.id),
        ),
        sessionKey: message.sessionKey ?? null,
        referrerId,
        overrides: isLast && order !== null ? message.overrides : [],
      }),
    });
  }
}

/** The holder of a referral code. */
function referrerOf(
  definitions: CommitBuild["context"]["definitions"],
  projectId: string,
  voucherId: string | null,
): string | null {
  if (voucherId === null) return null;
  const definition = definitions.byId(projectId, voucherId)?.definition;
  return definition?.isReferralCode === true ? definition.referrerId : null;
}

const pointsOf = (points: RedeemedPoints | undefined, isRewardPending: () => boolean) =>
  points === undefined
    ? null
    : {
        points: points.points,
        holdId: points.holdId,
        rewardId: points.reward?.id ?? null,
        isRewardPending: isRewardPending(),
      };

import {
  type CommitOutcome,
  type Redemption,
  RedemptionResult,
  RedemptionStatus,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { additionOf } from "../domain/commit.ts";
import type { RedeemedPoints } from "../domain/points.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { parsePoints, pointsFields, withPoints } from "../mapping/points.ts";
import { relatedObject } from "../mapping/redemption.ts";
import { composeVoucher, type VoucherTemplate } from "../mapping/voucher.ts";
import { announce } from "./build-events.ts";
import { type KeptOrder, keepOrders } from "./build-orders.ts";
import type { RenderParts } from "./build-outcomes.ts";
import { outcomeOf } from "./build-rejections.ts";
import { rowOf } from "./build-rows.ts";
import { type Command, tierOf } from "./parse-command.ts";

/**
 * One redemption for each part, and where there are several a parent that stands for all of them. The
 * order names the redemption, or the parent alone.
 */
export function* renderMade(
  command: Command,
  usages: readonly (VoucherUsage | null)[],
  parts: RenderParts,
): Generator<void, CommitOutcome> {
  const { draft, context } = parts;
  const { message, projectId, sessionKey } = command;
  const ids = usages.map(() => context.newId("r"));
  const parentId = ids.length > 1 ? context.newId("r") : null;
  const orders = yield* keepOrders(command, ids, parentId);
  const redemptions: Redemption[] = [];
  for (const [part, usage] of usages.entries()) {
    if (part > 0) yield;
    const id = ids[part] ?? "";
    const order = orders.parts[part] ?? null;
    redemptions.push(renderPart(command, part, { id, parentId, usage, order, parts }));
  }
  announce(command, redemptions, { order: orders.whole, parentId, parts });
  if (sessionKey !== null) draft.sessions.push({ projectId, sessionKey });
  return outcomeOf({
    case: "committed",
    value: {
      $typeName: "scrip.voucher.v1.CommittedRedemptions",
      redemptions,
      parentRedemption:
        parentId === null
          ? undefined
          : renderParent(command, { id: parentId, order: orders.whole, redemptions, parts }),
      replayData: message.replayData,
    },
  });
}

type PartMade = {
  readonly id: string;
  readonly parentId: string | null;
  /** Null of a tier. */
  readonly usage: VoucherUsage | null;
  readonly order: KeptOrder | null;
  readonly parts: RenderParts;
};

function renderPart(command: Command, part: number, made: PartMade): Redemption {
  const { id, parentId, usage, order, parts } = made;
  const one = command.parts[part];
  const sent = command.message.parts[part];
  if (one === undefined || sent === undefined) throw new Error("a part that was not sent was made");
  const credits = usage === null || usage.amount === null ? null : one.credits;
  parts.draft.redemptions.push(
    rowOf(command, part, {
      id,
      parentId,
      amount: credits,
      order: order?.bytes ?? null,
      after: usage,
      failure: null,
    }),
  );
  if (one.campaignId !== null || one.tierId !== null) {
    parts.draft.additions.push(additionOf(command, one));
  }
  const points = parsePoints(sent.points);
  if (one.spendId !== null) {
    parts.draft.claims.push({
      projectId: command.projectId,
      spendId: one.spendId,
      redemptionId: id,
    });
  }
  if (usage !== null) recordUsage(command, { id, usage, credits, parts });
  return redemptionOf(command, {
    id,
    order,
    parentId,
    about: relatedObject(id, one),
    amount: credits ?? undefined,
    points,
    voucher:
      usage === null
        ? undefined
        : withPoints(composeVoucher(templateFor(usage, parts), usage), points),
    tier: tierOf(sent),
  });
}

function templateFor(usage: VoucherUsage, { context }: RenderParts): VoucherTemplate {
  const template = context.templates.byId(usage.projectId, usage.voucherId);
  if (template?.definition.version !== usage.definitionVersion) {
    throw new Error(`the definition of voucher ${usage.voucherId} was not loaded`);
  }
  return template;
}

function recordUsage(
  { projectId, at }: Command,
  {
    id,
    usage,
    credits,
    parts: { draft },
  }: {
    readonly id: string;
    readonly usage: VoucherUsage;
    readonly credits: bigint | null;
    readonly parts: RenderParts;
  },
): void {
  draft.usages.set(rowKey(projectId, usage.voucherId), usage);
  if (credits === null || credits === 0n) return;
  draft.ledgerEntries.push({
    projectId,
    voucherId: usage.voucherId,
    version: usage.ledgerVersion,
    amount: -credits,
    balanceAfter: usage.balance ?? 0n,
    redemptionId: id,
    createdAt: at,
  });
}

/** Counts nowhere and takes nothing: it only names its parts and keeps the order. */
function renderParent(
  command: Command,
  {
    id,
    order,
    redemptions,
    parts,
  }: {
    readonly id: string;
    readonly order: KeptOrder | null;
    readonly redemptions: readonly Redemption[];
    readonly parts: RenderParts;
  },
): Redemption {
  const row = { id, parentId: null, amount: null, after: null, failure: null };
  parts.draft.redemptions.push(rowOf(command, null, { ...row, order: order?.bytes ?? null }));
  return {
    ...redemptionOf(command, { id, order, parentId: null, about: relatedObject(id, NOTHING) }),
    relatedRedemptions: {
      $typeName: "scrip.voucher.v1.RelatedRedemptions",
      rollbacks: [],
      redemptions: redemptions.map((one) => ({
        $typeName: "scrip.voucher.v1.RelatedRedemption",
        id: one.id,
        date: one.date,
      })),
    },
  };
}

const NOTHING = { voucherId: null, tierId: null, campaignId: null };

/** Written as one literal, because it is made for each redemption. */
function redemptionOf(
  { message, sessionKey }: Command,
  made: {
    readonly id: string;
    readonly order: KeptOrder | null;
    readonly parentId: string | null;
    readonly about: ReturnType<typeof relatedObject>;
    readonly amount?: bigint | undefined;
    readonly points?: RedeemedPoints | null;
    readonly voucher?: Redemption["voucher"];
    readonly tier?: Redemption["promotionTier"];
  },
): Redemption {
  const { about, amount } = made;
  return {
    $typeName: "scrip.voucher.v1.Redemption",
    id: made.id,
    date: message.now,
    customerId: message.customerId,
    trackingId: message.trackingId,
    metadata: message.metadata,
    amount,
    result: RedemptionResult.SUCCESS,
    status: RedemptionStatus.SUCCEEDED,
    order: made.order?.message,
    channel: message.channel,
    customer: message.customer,
    relatedObjectType: about.relatedObjectType,
    relatedObjectId: about.relatedObjectId,
    relatedObjectParentId: about.relatedObjectParentId,
    redeemableType: about.redeemableType,
    redeemableId: about.redeemableId,
    redemption: made.parentId ?? undefined,
    voucher: made.voucher,
    promotionTier: made.tier,
    gift:
      amount === undefined ? undefined : { $typeName: "scrip.voucher.v1.RedemptionGift", amount },
    session:
      sessionKey === null
        ? undefined
        : { $typeName: "scrip.voucher.v1.RedemptionSession", key: sessionKey },
    ...pointsFields(made.points ?? null),
  };
}

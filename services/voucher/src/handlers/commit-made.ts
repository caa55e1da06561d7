import type { Order, OrderRedemption } from "@scrip/proto/scrip/common/v1/order_pb";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import {
  type CommitOutcome,
  type Redemption,
  RedemptionResult,
  RedemptionStatus,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { additionOf } from "../domain/commit.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { encodeOrder, encodeRedemptionMade, REDEMPTIONS_TOPIC } from "../events/published.ts";
import { type Command, nowOf, tierOf } from "./commit-command.ts";
import type { RenderParts } from "./commit-outcomes.ts";
import { outcomeOf } from "./commit-refusals.ts";
import { parentRow, rowOf } from "./commit-rows.ts";
import { relatedObject } from "./redemption-message.ts";
import { composeVoucher, type VoucherTemplate } from "./voucher-message.ts";

/** A redemption as it is answered, and its order as it is stored. */
type Made = {
  readonly redemption: Redemption;
  readonly order: KeptOrder | null;
};

type KeptOrder = { readonly message: Order; readonly bytes: Uint8Array };

/**
 * One redemption for each part, and where there are several a parent that stands for all of them. The
 * order names the redemption, or the parent alone.
 */
export function renderMade(
  command: Command,
  usages: readonly (VoucherUsage | null)[],
  parts: RenderParts,
): CommitOutcome {
  const { draft, context } = parts;
  const { message, projectId, sessionKey } = command;
  const ids = usages.map(() => context.newId("r"));
  const parentId = ids.length > 1 ? context.newId("r") : null;
  const keepOrder = orderKeeper(orderEntry(command, ids, parentId));
  const made = usages.map((usage, part) => {
    const order = keepOrder(message.parts[part]?.order ?? message.order);
    const of = { id: ids[part] ?? "", parentId, usage, order };
    return { redemption: renderPart(command, part, { ...of, parts }), order };
  });
  const last = made.at(-1);
  const whole = parentId === null ? last?.order : keepOrder(message.order ?? last?.order?.message);
  announce(command, made, { order: whole ?? null, parentId, parts });
  if (sessionKey !== null) draft.sessions.push({ projectId, sessionKey });
  const parent =
    parentId === null
      ? undefined
      : renderParent(command, { id: parentId, order: whole ?? null, made, parts });
  return outcomeOf({
    case: "made",
    value: {
      $typeName: "scrip.voucher.v1.RedemptionsMade",
      redemptions: made.map(({ redemption }) => redemption),
      parentRedemption: parent,
      note: message.note,
    },
  });
}

/** How the order names the redemption. */
function orderEntry(
  command: Command,
  ids: readonly string[],
  parentId: string | null,
): readonly [string, OrderRedemption] {
  const id = parentId ?? ids[0] ?? "";
  const [first = NOTHING] = parentId === null ? command.parts : [];
  const { relatedObjectType, relatedObjectId, relatedObjectParentId } = relatedObject({
    id,
    ...first,
  });
  const entry: OrderRedemption = {
    $typeName: "scrip.common.v1.OrderRedemption",
    date: command.message.now,
    relatedObjectType,
    relatedObjectId,
    relatedObjectParentId,
    stacked: parentId === null ? [] : [...ids],
    rollbackStacked: [],
  };
  return [id, entry];
}

const NOTHING = { voucherId: null, tierId: null, campaignId: null };

/** Orders that came as one message are named and encoded once. */
function orderKeeper([key, entry]: readonly [string, OrderRedemption]) {
  const kept = new Map<Order, KeptOrder>();
  return (order: Order | undefined): KeptOrder | null => {
    if (order === undefined) return null;
    const earlier = kept.get(order);
    if (earlier !== undefined) return earlier;
    const message = { ...order, redemptions: { ...order.redemptions, [key]: entry } };
    const keeps = { message, bytes: encodeOrder(message) };
    kept.set(order, keeps);
    return keeps;
  };
}

type PartMade = {
  readonly id: string;
  readonly parentId: string | null;
  /** Null of a tier. */
  readonly usage: VoucherUsage | null;
  readonly order: KeptOrder | null;
};

function renderPart(
  command: Command,
  part: number,
  { id, parentId, usage, order, parts }: PartMade & { readonly parts: RenderParts },
): Redemption {
  const { draft } = parts;
  const one = command.parts[part];
  const sent = command.message.parts[part];
  if (one === undefined || sent === undefined) throw new Error("a part that was not sent was made");
  const credits = usage === null || usage.amount === null ? null : one.credits;
  draft.redemptions.push({
    ...rowOf(command, part, { id, parentId }),
    status: "SUCCEEDED",
    amount: credits,
    order: order?.bytes ?? null,
    after: usage,
    failure: null,
    orderAmount: one.orderAmount,
    discountedAmount: one.discountedAmount,
    units: unitsJson(one.units),
  });
  if (one.campaignId !== null || one.tierId !== null) {
    draft.additions.push(additionOf(command, one));
  }
  const base = {
    ...commandMessage(command, { id, order }),
    ...relatedObject({ id, ...one }),
    redemption: parentId ?? undefined,
  };
  if (usage === null) return { ...base, promotionTier: tierOf(sent) };
  const template = templateFor(usage, parts);
  recordUsage(command, { id, usage, credits, parts });
  return {
    ...base,
    amount: credits ?? undefined,
    voucher: composeVoucher(template, usage),
    gift:
      credits === null
        ? undefined
        : { $typeName: "scrip.voucher.v1.RedemptionGift", amount: credits },
  };
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

const unitsJson = (units: Command["parts"][number]["units"]): string | null =>
  units.length === 0
    ? null
    : JSON.stringify(
        Object.fromEntries(units.map(({ productId, quantity }) => [productId, Number(quantity)])),
      );

/** Counts nowhere and takes nothing: it only names its parts and keeps the order. */
function renderParent(
  command: Command,
  {
    id,
    order,
    made,
    parts,
  }: {
    readonly id: string;
    readonly order: KeptOrder | null;
    readonly made: readonly Made[];
    readonly parts: RenderParts;
  },
): Redemption {
  parts.draft.redemptions.push({
    ...parentRow(command, id),
    status: "SUCCEEDED",
    amount: null,
    order: order?.bytes ?? null,
    after: null,
    failure: null,
  });
  return {
    ...commandMessage(command, { id, order }),
    ...relatedObject({ id, ...NOTHING }),
    relatedRedemptions: {
      $typeName: "scrip.voucher.v1.RelatedRedemptions",
      rollbacks: [],
      redemptions: made.map(({ redemption }) => ({
        $typeName: "scrip.voucher.v1.RelatedRedemption",
        id: redemption.id,
        date: redemption.date,
      })),
    },
  };
}

/** What all redemptions of a command have in common. */
function commandMessage(
  { message, sessionKey }: Command,
  { id, order }: { readonly id: string; readonly order: KeptOrder | null },
) {
  return {
    $typeName: "scrip.voucher.v1.Redemption" as const,
    id,
    date: message.now,
    customerId: message.customerId,
    trackingId: message.trackingId,
    metadata: message.metadata,
    result: RedemptionResult.SUCCESS,
    status: RedemptionStatus.SUCCEEDED,
    order: order?.message,
    channel: message.channel,
    customer: message.customer,
    session:
      sessionKey === null
        ? undefined
        : { $typeName: "scrip.voucher.v1.RedemptionSession" as const, key: sessionKey },
  };
}

/**
 * One event for each redemption that took something. The order is stored from the last of a command,
 * once and as all of them left it.
 */
function announce(
  { message, projectId, parts: sent }: Command,
  made: readonly Made[],
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
  for (const [part, { redemption }] of made.entries()) {
    const { voucherId = null, tierId = null, campaignId = null } = sent[part] ?? {};
    const isLast = part === made.length - 1;
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
        amount: redemption.amount ?? null,
        order: isLast && order !== null ? order.bytes : null,
        parentId,
      }),
    });
  }
}

import {
  type CommitOutcome,
  type Redemption,
  type RedemptionPart,
  RedemptionResult,
  RedemptionStatus,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import { countIncrementOf } from "../domain/commit.ts";
import type { RedeemedPoints } from "../domain/points.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { originFromProto } from "../mapping/origin.ts";
import { pointsFromProto, pointsToProto, withRedeemedPoints } from "../mapping/points.ts";
import { relatedObject } from "../mapping/redemption.ts";
import { withScope } from "../mapping/scope.ts";
import { cachedVoucherToProto, type CachedDefinition } from "../mapping/voucher.ts";
import type { RewardRedemption } from "../store/reward-redemptions.ts";
import { addRedemptionEvents } from "./build-events.ts";
import { type OrderWithRedemption, buildOrders } from "./build-orders.ts";
import { commitOutcome } from "./build-rejections.ts";
import { redemptionToRow } from "./build-rows.ts";
import type { CommitBuild } from "./draft.ts";
import { type Command, promotionTierOf } from "./parse-command.ts";

/**
 * Builds one redemption for each part, and a parent redemption when there are several. The order lists the
 * redemption, or the parent alone (docs/redemption-and-rollback.md#stacks).
 */
export function* buildRedemptions(
  command: Command,
  usages: readonly (VoucherUsage | null)[],
  build: CommitBuild,
): Generator<void, CommitOutcome> {
  const { draft, context } = build;
  const { message, projectId, sessionKey } = command;
  const ids = usages.map(() => context.newId("r"));
  const parentId = ids.length > 1 ? context.newId("r") : null;
  const orders = yield* buildOrders(command, ids, parentId);
  const redemptions: Redemption[] = [];
  for (const [part, usage] of usages.entries()) {
    if (part > 0) yield;
    const id = ids[part] ?? "";
    const order = orders.parts[part] ?? null;
    redemptions.push(buildRedemption(command, part, { id, parentId, usage, order, build }));
  }
  addRedemptionEvents(command, redemptions, { order: orders.whole, parentId, build });
  if (sessionKey !== null) draft.sessions.push({ projectId, sessionKey });
  return commitOutcome({
    case: "committed",
    value: {
      $typeName: "scrip.voucher.v1.CommittedRedemptions",
      redemptions,
      parentRedemption:
        parentId === null
          ? undefined
          : buildParentRedemption(command, {
              id: parentId,
              order: orders.whole,
              redemptions,
              build,
            }),
      replayData: message.replayData,
    },
  });
}

type BuiltPart = {
  readonly id: string;
  readonly parentId: string | null;
  /** Null for a promotion tier. */
  readonly usage: VoucherUsage | null;
  readonly order: OrderWithRedemption | null;
  readonly build: CommitBuild;
};

function buildRedemption(command: Command, part: number, built: BuiltPart): Redemption {
  const { id, parentId, usage, order, build } = built;
  const one = command.parts[part];
  const sent = command.message.parts[part];
  if (one === undefined || sent === undefined) throw new Error("the command has no such part");
  const credits = usage === null || usage.amount === null ? null : one.credits;
  build.draft.redemptions.push(
    redemptionToRow(command, part, {
      id,
      parentId,
      amount: credits,
      order,
      after: usage,
      failure: null,
    }),
  );
  if (one.campaignId !== null || one.tierId !== null) {
    build.draft.increments.push(countIncrementOf(command, one));
  }
  const points = pointsFromProto(sent.points);
  if (one.holdId !== null) {
    build.draft.claims.push({
      projectId: command.projectId,
      holdId: one.holdId,
      redemptionId: id,
    });
  }
  const reward = rewardRedemptionOf(command, id, points);
  if (reward !== null) build.draft.rewards.push(reward);
  if (usage !== null)
    recordUsage(command, { id, usage, campaignId: one.campaignId, credits, build });
  return redemptionMessage(command, {
    id,
    order,
    parentId,
    about: relatedObject(id, one),
    amount: credits ?? undefined,
    points,
    voucher:
      usage === null
        ? undefined
        : redeemedVoucher(cachedVoucherToProto(definitionOf(usage, build), usage), points, sent),
    tier: promotionTierOf(sent),
  });
}

/** Nothing is listed for a redemption without a scope: the stored response of most redemptions stays short. */
function redeemedVoucher(
  voucher: Voucher,
  points: RedeemedPoints | null,
  { scope }: RedemptionPart,
): Voucher {
  const withPoints = withRedeemedPoints(voucher, points);
  return scope === undefined ? withPoints : withScope(withPoints, scope);
}

/** The record of a MATERIAL or CAMPAIGN reward that is still to be given for the redemption. */
function rewardRedemptionOf(
  { projectId, customerId, at, message }: Command,
  redemptionId: string,
  points: RedeemedPoints | null,
): RewardRedemption | null {
  const reward = points?.reward ?? null;
  if (reward === null || customerId === null) return null;
  const { type, quantity, parameters } = reward;
  const owed = {
    projectId,
    redemptionId,
    customerId,
    quantity,
    at,
    origin: originFromProto(message),
  };
  const { campaign } = parameters ?? {};
  if (type === "MATERIAL") return { ...owed, type, campaignId: null, amount: null };
  if (type !== "CAMPAIGN" || campaign === undefined) return null;
  return { ...owed, type, campaignId: campaign.id, amount: campaign.balance ?? null };
}

function definitionOf(usage: VoucherUsage, { context }: CommitBuild): CachedDefinition {
  const cached = context.definitions.byId(usage.projectId, usage.voucherId);
  if (cached?.definition.version !== usage.definitionVersion) {
    throw new Error(`the definition of voucher ${usage.voucherId} was not loaded`);
  }
  return cached;
}

function recordUsage(
  { projectId, at }: Command,
  {
    id,
    usage,
    campaignId,
    credits,
    build: { draft },
  }: {
    readonly id: string;
    readonly usage: VoucherUsage;
    readonly campaignId: string | null;
    readonly credits: bigint | null;
    readonly build: CommitBuild;
  },
): void {
  draft.usages.set(rowKey(projectId, usage.voucherId), usage);
  if (credits === null || credits === 0n) return;
  draft.ledgerEntries.push({
    projectId,
    voucherId: usage.voucherId,
    campaignId,
    version: usage.ledgerVersion,
    amount: -credits,
    balanceAfter: usage.balance ?? 0n,
    redemptionId: id,
    createdAt: at,
  });
}

/** Changes no counts and no balances: the parent only lists its parts and stores the order. */
function buildParentRedemption(
  command: Command,
  {
    id,
    order,
    redemptions,
    build,
  }: {
    readonly id: string;
    readonly order: OrderWithRedemption | null;
    readonly redemptions: readonly Redemption[];
    readonly build: CommitBuild;
  },
): Redemption {
  const row = { id, parentId: null, amount: null, after: null, failure: null };
  build.draft.redemptions.push(redemptionToRow(command, null, { ...row, order }));
  return {
    ...redemptionMessage(command, {
      id,
      order,
      parentId: null,
      about: relatedObject(id, NO_REDEEMABLE),
    }),
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

const NO_REDEEMABLE = { voucherId: null, tierId: null, campaignId: null };

/** One literal instead of spreads: this runs for each redemption. */
function redemptionMessage(
  { message, sessionKey }: Command,
  fields: {
    readonly id: string;
    readonly order: OrderWithRedemption | null;
    readonly parentId: string | null;
    readonly about: ReturnType<typeof relatedObject>;
    readonly amount?: bigint | undefined;
    readonly points?: RedeemedPoints | null;
    readonly voucher?: Redemption["voucher"];
    readonly tier?: Redemption["promotionTier"];
  },
): Redemption {
  const { about, amount } = fields;
  return {
    $typeName: "scrip.voucher.v1.Redemption",
    id: fields.id,
    date: message.now,
    customerId: message.customerId,
    trackingId: message.trackingId,
    metadata: message.metadata,
    amount,
    result: RedemptionResult.SUCCESS,
    status: RedemptionStatus.SUCCEEDED,
    order: fields.order?.message,
    channel: message.channel,
    customer: message.customer,
    relatedObjectType: about.relatedObjectType,
    relatedObjectId: about.relatedObjectId,
    relatedObjectParentId: about.relatedObjectParentId,
    redeemableType: about.redeemableType,
    redeemableId: about.redeemableId,
    redemption: fields.parentId ?? undefined,
    voucher: fields.voucher,
    promotionTier: fields.tier,
    gift:
      amount === undefined ? undefined : { $typeName: "scrip.voucher.v1.RedemptionGift", amount },
    session:
      sessionKey === null
        ? undefined
        : { $typeName: "scrip.voucher.v1.RedemptionSession", key: sessionKey },
    ...pointsToProto(fields.points ?? null),
  };
}

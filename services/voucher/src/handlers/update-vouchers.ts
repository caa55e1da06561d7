import { currentTime } from "@scrip/clock";
import { ApiError } from "@scrip/errors";
import { enumName, validityFromProto } from "@scrip/mapping";
import type { Queryable } from "@scrip/postgres";
import type {
  CampaignVoucherService,
  UpdateVouchersRequest,
  UpdateVouchersResponse,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { GiftEffect } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call, Handler } from "@scrip/rpc";
import type { Validity } from "@scrip/rules";

import type { Deps } from "../deps.ts";
import type { CampaignChange } from "../domain/campaign-change.ts";
import { campaignFromProto } from "../mapping/campaign.ts";
import {
  type CampaignUpdate,
  changeGiftAmounts,
  listCampaignVoucherIds,
  mergeMetadata,
  copyDefinitionVersions,
  updateTerms,
} from "../store/campaign-vouchers.ts";
import { updateCampaignSettings, upsertCampaign } from "../store/campaigns.ts";
import { referralTiersToRow } from "../store/referral-terms.ts";
import { lockUsages } from "../store/usages.ts";
import { requireDiscount } from "../voucher/check-request.ts";

type UpdateVouchers = Handler<typeof CampaignVoucherService.method.updateVouchers>;

/** Each chunk is one transaction, so that no redemption waits long for its locks. */
const CHUNK = 2_000;

export const updateVouchers =
  (deps: Deps): UpdateVouchers =>
  async (request, call) => {
    const { campaignId } = request;
    const projectId = call.project.id;
    const change = parse(request);
    if (request.campaign !== undefined) {
      await upsertCampaign(deps.db, projectId, campaignFromProto(request.campaign));
    }
    const { active, referralTiers: tiers } = request;
    if (active !== undefined || tiers !== undefined) {
      const referralTiers = tiers && referralTiersToRow(tiers);
      await updateCampaignSettings(deps.db, projectId, { campaignId, active, referralTiers });
    }
    if (changesNothing(request)) return updatedCount(0);
    if (request.limit !== undefined) return updateSlice(deps, request, { call, change });
    let after = "";
    let updated = 0;
    for (;;) {
      // The caller no longer waits; applying the update now could overwrite the campaign's next change.
      if (currentTime() > call.deadline) throw new ApiError("deadline_exceeded");
      const query = { projectId, campaignId, after, limit: CHUNK };
      const ids = await listCampaignVoucherIds(deps.db, query);
      const last = ids.at(-1);
      if (last === undefined) break;
      const update = { projectId, change, now: call.now, ids };
      updated += await deps.db.transaction((tx) => updateChunk(tx, update));
      after = last;
    }
    return updatedCount(updated);
  };

/** One slice of a job, which continues after the last voucher. */
async function updateSlice(
  { db }: Deps,
  { campaignId, afterVoucherId: after, limit = 0n }: UpdateVouchersRequest,
  { call, change }: { readonly call: Call; readonly change: CampaignChange },
): Promise<UpdateVouchersResponse> {
  const projectId = call.project.id;
  const size = Number(limit);
  const ids = await listCampaignVoucherIds(db, { projectId, campaignId, after, limit: size });
  const update = { projectId, change, now: call.now, ids };
  const updated = await db.transaction((tx) => updateChunk(tx, update));
  return updatedCount(updated, ids.length < size ? "" : ids.at(-1));
}

const updatedCount = (count: number, lastVoucherId = ""): UpdateVouchersResponse => ({
  $typeName: "scrip.voucher.v1.UpdateVouchersResponse",
  updatedCount: BigInt(count),
  lastVoucherId,
});

/** Whether the request updates the campaign only, so that its vouchers need no update. */
const changesNothing = ({ updateMask, metadata, unsetMetadataFields }: UpdateVouchersRequest) =>
  (updateMask?.paths ?? []).length === 0 &&
  Object.keys(metadata ?? {}).length === 0 &&
  unsetMetadataFields.length === 0;

async function updateChunk(tx: Queryable, update: CampaignUpdate): Promise<number> {
  const { projectId, change, now } = update;
  const hasMetadata =
    Object.keys(change.metadata).length > 0 || change.unsetMetadataFields.length > 0;
  // Before the terms, which lock fewer vouchers: everybody locks in one order.
  const live = hasMetadata ? await lockLive(tx, update) : [];
  const changed = await updateTerms(tx, update);
  if (change.giftAmount !== undefined) {
    await changeGiftAmounts(tx, { projectId, ids: changed, amount: change.giftAmount, now });
  }
  if (!hasMetadata) return changed.length;
  await mergeMetadata(tx, { ...update, ids: live });
  await copyDefinitionVersions(tx, projectId, live);
  return live.length;
}

/** Ids are sorted as text, the order that everybody locks in. */
async function lockLive(tx: Queryable, { projectId, ids }: CampaignUpdate): Promise<string[]> {
  const locked = await lockUsages(
    tx,
    ids.map((voucherId) => ({ projectId, voucherId })),
  );
  return locked.flatMap(({ deleted, voucherId }) => (deleted ? [] : voucherId));
}

function parse(request: UpdateVouchersRequest): CampaignChange {
  const sent = new Set(request.updateMask?.paths);
  const when = <Value>(path: string, value: Value): Value | undefined =>
    sent.has(path) ? value : undefined;
  return {
    categoryId: when("category_id", request.categoryId ?? null),
    validity: changedLimits(request, sent),
    activityDuration: when(
      "activity_duration_after_publishing",
      request.activityDurationAfterPublishing ?? null,
    ),
    discount: request.discount && when("discount", requireDiscount(request.discount)),
    giftAmount: when("gift_amount", request.giftAmount),
    giftEffect: when("gift_effect", enumName(GiftEffect, request.giftEffect)),
    loyaltyPoints: when("loyalty_points", request.loyaltyPoints),
    metadata: request.metadata ?? {},
    unsetMetadataFields: request.unsetMetadataFields,
  };
}

const LIMITS = {
  start_date: "startDate",
  expiration_date: "expirationDate",
  validity_timeframe: "timeframe",
  validity_day_of_week: "daysOfWeek",
  validity_hours: "hours",
} as const satisfies Record<string, keyof Validity>;

function changedLimits(
  request: UpdateVouchersRequest,
  sent: ReadonlySet<string>,
): Partial<Validity> {
  const validity = validityFromProto(request);
  const entries = Object.entries(LIMITS).filter(([path]) => sent.has(path));
  return Object.fromEntries(entries.map(([, field]) => [field, validity[field]]));
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import { notFound, ApiError } from "@scrip/errors";
import { discountToProto, validityToProto } from "@scrip/mapping";
import type {
  CampaignService,
  UpdateCampaignRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { UpdateVouchersRequestSchema } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { GiftEffect } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call, Handler } from "@scrip/rpc";

import { editCampaign, namesCategory } from "../campaign/apply-campaign-update.ts";
import { awaitTurn } from "../campaign/campaign-lock.ts";
import { toldCampaign } from "../campaign/create-vouchers.ts";
import { categoryIdOf } from "../category/resolve-category.ts";
import type { Deps } from "../deps.ts";
import type { Campaign } from "../domain/campaign.ts";
import { toCampaign } from "../mapping/campaign.ts";
import { endTurn, setStatus, type Turn } from "../store/campaign-lock.ts";
import { findCampaign, updateCampaign as write } from "../store/campaigns.ts";
import { withTiers } from "./get-campaign.ts";

export const updateCampaign =
  (deps: Deps): Handler<typeof CampaignService.method.updateCampaign> =>
  async (request, call) => {
    const projectId = call.project.id;
    const sent = new Set(request.updateMask?.paths);
    await refuseEarly(deps, request, call);
    const categoryId = namesCategory(sent) ? await categoryIdOf(deps, request, call) : undefined;
    const { turn, record } = await awaitTurn(deps, call, request.campaignId);
    const before = record.campaign;
    await inTurn(deps, turn, before, async () => {
      const campaign = editCampaign(before, { request, sent, categoryId, now: call.now });
      const change = changeOf(campaign, request, sent);
      await deps.definitions.write(projectId, async (tx) => {
        await write(tx, projectId, campaign);
        if (change !== undefined) await setStatus(tx, turn, "MODIFYING");
      });
      if (change !== undefined) await deps.vouchers.updateVouchers(change, call);
    });
    const after = await findCampaign(deps.db, projectId, before.id);
    if (after === undefined) throw notFound("campaign", request.campaignId);
    const [view] = await withTiers(deps, projectId, [after]);
    return toCampaign(view ?? after);
  };

/** Before a category is made for nothing. */
async function refuseEarly(deps: Deps, request: UpdateCampaignRequest, call: Call): Promise<void> {
  const found = await findCampaign(deps.db, call.project.id, request.campaignId);
  if (found === undefined) throw notFound("campaign", request.campaignId);
  const sent = new Set(request.updateMask?.paths);
  editCampaign(found.campaign, { request, sent, categoryId: undefined, now: call.now });
}

/** Ends the turn in any case: with what failed, unless it was refused before anything changed. */
async function inTurn(
  deps: Deps,
  turn: Turn,
  before: Campaign,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const status = error instanceof ApiError ? before.creationStatus : "FAILED";
    await endTurn(deps.db, turn, { status, vouchersMade: 0 });
    throw error;
  }
  await endTurn(deps.db, turn, { status: "DONE", vouchersMade: 0 });
}

type Change = MessageInitShape<typeof UpdateVouchersRequestSchema>;

/** What vouchers have copied of the campaign, named as the vouchers' change names it. */
const COPIED: Readonly<Record<string, readonly string[]>> = {
  category: ["category_id"],
  category_id: ["category_id"],
  start_date: ["start_date"],
  expiration_date: ["expiration_date"],
  validity_timeframe: ["validity_timeframe"],
  validity_day_of_week: ["validity_day_of_week"],
  validity_hours: ["validity_hours"],
  activity_duration_after_publishing: ["activity_duration_after_publishing"],
  discount: ["discount"],
  gift: ["gift_amount", "gift_effect"],
  loyalty_card: ["loyalty_points"],
};

/** What publications go by, beside what vouchers have copied. */
const TOLD: ReadonlySet<string> = new Set([
  "join_once",
  "type",
  "metadata",
  "unset_metadata_fields",
]);

/** What the campaign's vouchers have to learn of a change; undefined when it is nothing. */
function changeOf(
  campaign: Campaign,
  request: UpdateCampaignRequest,
  sent: ReadonlySet<string>,
): Change | undefined {
  const { voucher, validity } = campaign;
  if (voucher === null) return undefined;
  const paths = [...new Set([...sent].flatMap((path) => COPIED[path] ?? []))];
  const sharesMetadata = campaign.useVoucherMetadataSchema;
  const metadata = sharesMetadata && sent.has("metadata") ? request.metadata : undefined;
  const unset = sharesMetadata ? request.unsetMetadataFields : [];
  if (paths.length === 0 && ![...sent].some((path) => TOLD.has(path))) return undefined;
  return {
    campaignId: campaign.id,
    campaign: toldCampaign(campaign),
    categoryId: campaign.categoryId ?? undefined,
    ...validityToProto(validity),
    activityDurationAfterPublishing: campaign.activityDuration ?? undefined,
    discount: voucher.discount === null ? undefined : discountToProto(voucher.discount),
    giftAmount: voucher.gift?.amount,
    giftEffect: voucher.gift === null ? undefined : GiftEffect[voucher.gift.effect],
    loyaltyPoints: voucher.loyaltyCard?.points,
    metadata,
    unsetMetadataFields: [...unset],
    updateMask: { paths },
  };
}

import { ApiError } from "@scrip/errors";
import type {
  CampaignService,
  UpdateCampaignRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Call, Handler } from "@scrip/rpc";

import { applyCampaignUpdate, changesCategory } from "../campaign/apply-campaign-update.ts";
import { acquireCampaignLock } from "../campaign/campaign-lock.ts";
import { requireCampaign } from "../campaign/require-campaign.ts";
import { resolveCategoryId } from "../category/resolve-category.ts";
import { type Deps, stepDeps } from "../deps.ts";
import { statusAfterFailedUpdate } from "../domain/campaign-status.ts";
import type { Campaign } from "../domain/campaign.ts";
import type { ReferralProgram } from "../domain/referral-program.ts";
import { announceLoyaltyProgram } from "../events/loyalty-program-changed.ts";
import { loadCampaignTiers } from "../loading/campaign-tiers.ts";
import { campaignToProto } from "../mapping/campaign.ts";
import { voucherUpdateToProto } from "../mapping/voucher-update.ts";
import { resolveReferralProgram } from "../referral/resolve-referral-program.ts";
import {
  releaseCampaignLock,
  setCampaignStatus,
  type CampaignLock,
} from "../store/campaign-lock.ts";
import { updateCampaign as storeCampaign } from "../store/campaigns.ts";

export const updateCampaign =
  (deps: Deps): Handler<typeof CampaignService.method.updateCampaign> =>
  async (request, call) => {
    const steps = stepDeps(deps);
    const projectId = call.project.id;
    const sent = new Set(request.updateMask?.paths);
    const referralProgram = await rejectEarly(deps, request, call);
    const categoryId = changesCategory(sent)
      ? await resolveCategoryId(deps, request, call)
      : undefined;
    const { lock, record } = await acquireCampaignLock(steps, call, request.campaignId);
    const before = record.campaign;
    await releaseLockAfter(deps, lock, before, async () => {
      const campaign = applyCampaignUpdate(before, {
        request,
        sent,
        categoryId,
        referralProgram,
        now: call.now,
      });
      const voucherUpdate = voucherUpdateToProto(campaign, request, sent);
      await steps.definitions.write(projectId, async (tx) => {
        await storeCampaign(tx, projectId, campaign);
        await announceLoyaltyProgram(tx, projectId, { id: campaign.id, at: call.now });
        if (voucherUpdate !== undefined) await setCampaignStatus(tx, lock, "MODIFYING");
      });
      steps.onEvents();
      if (voucherUpdate !== undefined) await deps.vouchers.updateVouchers(voucherUpdate, call);
    });
    const after = await requireCampaign(deps.db, projectId, before.id);
    const [view] = await loadCampaignTiers(deps.db, projectId, [after]);
    return campaignToProto(view ?? after, call.project);
  };

/** Rejects an invalid request before its category is created; returns the new settings of a referral program. */
async function rejectEarly(
  deps: Deps,
  request: UpdateCampaignRequest,
  call: Call,
): Promise<ReferralProgram | undefined> {
  const found = await requireCampaign(deps.db, call.project.id, request.campaignId);
  const sent = new Set(request.updateMask?.paths);
  const referralProgram = sent.has("referral_program")
    ? await resolveReferralProgram(deps.db, call.project.id, {
        campaignType: found.campaign.campaignType,
        json: request.referralProgram,
      })
    : null;
  const edit = { request, sent, categoryId: undefined, now: call.now };
  applyCampaignUpdate(found.campaign, { ...edit, referralProgram: referralProgram ?? undefined });
  return referralProgram ?? undefined;
}

/** Runs the update and releases the lock with the status that results from it. */
async function releaseLockAfter(
  deps: Deps,
  lock: CampaignLock,
  before: Campaign,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const rejected = error instanceof ApiError;
    const status = statusAfterFailedUpdate(before.creationStatus, { rejected });
    await releaseCampaignLock(stepDeps(deps).db, lock, { status, createdVouchers: 0 });
    throw error;
  }
  await releaseCampaignLock(deps.db, lock, { status: "DONE", createdVouchers: 0 });
}

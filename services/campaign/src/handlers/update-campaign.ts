import { toBinary } from "@bufbuild/protobuf";
import { ApiError } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import {
  type CampaignService,
  type UpdateCampaignRequest,
  UpdateCampaignRequestSchema,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CampaignChanged_Change } from "@scrip/proto/scrip/events/v1/campaigns_pb";
import type { Call, Handler } from "@scrip/rpc";

import { applyCampaignUpdate, changesCategory } from "../campaign/apply-campaign-update.ts";
import { acquireCampaignLock } from "../campaign/campaign-lock.ts";
import { requireCampaign } from "../campaign/require-campaign.ts";
import { resolveCategoryId } from "../category/resolve-category.ts";
import { type Deps, stepDeps } from "../deps.ts";
import { statusAfterFailedUpdate } from "../domain/campaign-status.ts";
import type { Campaign } from "../domain/campaign.ts";
import type { ReferralProgram } from "../domain/referral-program.ts";
import { campaignChanged } from "../events/campaign-events.ts";
import { announceLoyaltyProgram } from "../events/loyalty-program-changed.ts";
import { addJob } from "../job/add-job.ts";
import { loadCampaignTiers } from "../loading/campaign-tiers.ts";
import { campaignToProto } from "../mapping/campaign.ts";
import { changesVouchers, voucherUpdateToProto } from "../mapping/voucher-update.ts";
import { resolveReferralProgram } from "../referral/resolve-referral-program.ts";
import { findJob, findPending } from "../store/campaign-jobs.ts";
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
      const isJob = changesVouchers(voucherUpdate) && (await needsJob(steps, projectId, campaign));
      await steps.definitions.write(projectId, async (tx) => {
        await storeCampaign(tx, projectId, campaign);
        await announceLoyaltyProgram(tx, call, {
          id: campaign.id,
          recalculateTiers: request.options?.["recalculate_tiers"] === true,
        });
        if (voucherUpdate !== undefined) await setCampaignStatus(tx, lock, "MODIFYING");
        const change = CampaignChanged_Change.UPDATED;
        const event = campaignChanged(deps.newId("event"), campaign, { call, change });
        await enqueue(tx, [event], call);
        if (isJob) await addUpdateJob(tx, { deps, call }, campaign, request);
      });
      deps.onEvents();
      if (voucherUpdate === undefined) return;
      // With a job, only the settings that publications read.
      const now = isJob
        ? { campaignId: campaign.id, campaign: voucherUpdate.campaign }
        : voucherUpdate;
      await deps.vouchers.updateVouchers(now, call);
    });
    const after = await requireCampaign(deps.db, projectId, before.id);
    const [view] = await loadCampaignTiers(deps.db, projectId, [after]);
    return campaignToProto(view ?? after, call.project);
  };

/** Adds the job of an update, unless an interrupted attempt of the request has added it. */
async function addUpdateJob(
  tx: Queryable,
  { deps, call }: { readonly deps: Deps; readonly call: Call },
  { id: campaignId, vouchersCount: total }: Campaign,
  request: UpdateCampaignRequest,
): Promise<void> {
  const id = deps.newId("aa");
  if ((await findJob(tx, call.project.id, id)) !== undefined) return;
  const stored = toBinary(UpdateCampaignRequestSchema, request);
  await addJob(tx, { deps, call }, { id, campaignId, type: "UPDATE", total, request: stored });
}

/** Up to this number, vouchers are updated before the response. */
const MAX_VOUCHERS_PER_REQUEST = 100n;

/** Updates of many vouchers are jobs, and those behind a job, which are applied after it. */
async function needsJob(
  { db }: Pick<Deps, "db">,
  projectId: string,
  { id, vouchersCount }: Campaign,
): Promise<boolean> {
  if (vouchersCount > MAX_VOUCHERS_PER_REQUEST) return true;
  return (await findPending(db, projectId, id)).next !== null;
}

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

import { duplicate } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import type {
  CampaignService,
  CreateCampaignRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CampaignChanged_Change } from "@scrip/proto/scrip/events/v1/campaigns_pb";
import { type Call, type Handler, reservedOrNewId } from "@scrip/rpc";

import { acquireCampaignLock, lockTokenOf } from "../campaign/campaign-lock.ts";
import { createVouchers } from "../campaign/create-vouchers.ts";
import {
  type CampaignPlan,
  newCampaignType,
  type NewCampaignReferences,
  planCampaign,
} from "../campaign/plan-campaign.ts";
import { resolveCategoryId } from "../category/resolve-category.ts";
import { type Deps, stepDeps } from "../deps.ts";
import type { PromotionTier } from "../domain/promotion.ts";
import { campaignChanged } from "../events/campaign-events.ts";
import {
  announceDeletedProgram,
  announceLoyaltyProgram,
} from "../events/loyalty-program-changed.ts";
import { addJob } from "../job/add-job.ts";
import { loadCampaignTiers } from "../loading/campaign-tiers.ts";
import { inheritFromCampaign } from "../mapping/campaign-voucher.ts";
import { campaignToProto } from "../mapping/campaign.ts";
import { planTiers } from "../promotion/plan-tiers.ts";
import { resolveReferralProgram } from "../referral/resolve-referral-program.ts";
import { releaseCampaignLock, type CampaignLock } from "../store/campaign-lock.ts";
import { deleteCampaign, findCampaign, insertCampaign } from "../store/campaigns.ts";
import { insertTier } from "../store/promotion-tiers.ts";

export const createCampaign =
  (deps: Deps): Handler<typeof CampaignService.method.createCampaign> =>
  async (request, call) => {
    const id = reservedOrNewId(request, call, () => deps.newId("camp"));
    const projectId = call.project.id;
    const { maxVouchers } = deps;
    const { referralProgram, tiers, categoryId } =
      (await findInterrupted(deps, call, id)) ??
      (await resolveReferences(deps, call, { id, request }));
    const plan = planCampaign(request, call, { id, categoryId, referralProgram, maxVouchers });

    const lock = { projectId, campaignId: id, token: lockTokenOf(call) };
    await insert(stepDeps(deps), call, { plan, tiers, lock });
    // Also without codes: the voucher service publishes only from campaigns that it stores.
    if (plan.campaign.voucher !== null) await createCodes(deps, call, { plan, lock });
    const created = await findCampaign(deps.db, projectId, id);
    if (created === undefined) throw new Error("the created campaign does not exist");
    const [view = created] = await loadCampaignTiers(deps.db, projectId, [created]);
    // The state before the codes were created (docs/campaigns.md#status).
    const { creationStatus, generationStatus, vouchersCount } = plan.campaign;
    const campaign = { ...created.campaign, creationStatus, generationStatus, vouchersCount };
    return campaignToProto({ ...view, campaign }, call.project);
  };

type References = Pick<NewCampaignReferences, "referralProgram" | "categoryId"> & {
  readonly tiers: readonly PromotionTier[];
};

/** The references of a campaign that an interrupted attempt has inserted. They may be deleted by now. */
async function findInterrupted(
  { db }: Deps,
  { project, stepKey }: Call,
  id: string,
): Promise<References | undefined> {
  const found = stepKey && (await findCampaign(db, project.id, id));
  if (found === undefined) return undefined;
  const { referralProgram, categoryId } = found.campaign;
  return { referralProgram, categoryId: categoryId ?? undefined, tiers: [] };
}

async function resolveReferences(
  deps: Deps,
  call: Call,
  { id, request }: { readonly id: string; readonly request: CreateCampaignRequest },
): Promise<References> {
  const { maxVouchers } = deps;
  const referralProgram = await resolveReferralProgram(deps.db, call.project.id, {
    campaignType: newCampaignType(request),
    json: request.referralProgram,
  });
  planCampaign(request, call, { id, categoryId: undefined, referralProgram, maxVouchers });
  const tiers = await planTiers(deps, call, {
    campaignId: id,
    requests: request.promotion?.tiers ?? [],
  });
  // Last: a rejected request must not create a category.
  return { referralProgram, tiers, categoryId: await resolveCategoryId(deps, request, call) };
}

type NewCampaign = {
  readonly plan: CampaignPlan;
  readonly tiers: readonly PromotionTier[];
  readonly lock: CampaignLock;
};

/** Inserts the campaign, locked if it has codes. Repeatable: an attempt that ended may have inserted it. */
async function insert(deps: Deps, call: Call, { plan, tiers, lock }: NewCampaign): Promise<void> {
  const { campaign } = plan;
  const { projectId } = lock;
  const lockToken = campaign.voucher === null ? null : lock.token;
  const isNew = await deps.definitions.write(projectId, async (tx) => {
    if ((await insertCampaign(tx, projectId, { campaign, lockToken })) === "name_taken") {
      const taken = await findCampaign(tx, projectId, campaign.name);
      if (taken?.campaign.id === campaign.id) return false;
      throw duplicate("campaign", "name", campaign.name);
    }
    for (const tier of tiers) await insertTier(tx, projectId, tier);
    await announceLoyaltyProgram(tx, call, { id: campaign.id });
    const change = CampaignChanged_Change.CREATED;
    const event = campaignChanged(deps.newId("event"), campaign, { call, change });
    await enqueue(tx, [event], call);
    if (plan.jobCount > 0n) {
      const request = { id: deps.newId("aa"), campaignId: campaign.id, total: plan.jobCount };
      await addJob(tx, { deps, call }, { ...request, type: "GENERATE" });
    }
    return true;
  });
  deps.onEvents();
  if (!isNew && lockToken !== null) await acquireCampaignLock(deps, call, campaign.id);
}

/** Creates all codes or none; if the voucher service rejects them, the campaign is deleted again. */
async function createCodes(
  deps: Deps,
  call: Call,
  { plan, lock }: { readonly plan: CampaignPlan; readonly lock: CampaignLock },
): Promise<void> {
  const { campaign, count } = plan;
  const own = campaign.voucher?.code == null ? {} : { code: campaign.voucher.code };
  const items = Array.from({ length: count }, () => inheritFromCampaign(campaign, own));
  const created = await createVouchers(deps, call, { campaign, items }).catch(
    async (error: unknown) => {
      // The codes may exist, so the campaign stays, with the status FAILED.
      await releaseCampaignLock(stepDeps(deps).db, lock, { status: "FAILED", createdVouchers: 0 });
      throw error;
    },
  );
  if (!(created instanceof Error)) {
    await finish(deps, call, { campaign, lock, createdVouchers: created.length });
    return;
  }
  await deps.definitions.write(lock.projectId, async (tx) => {
    await deleteCampaign(tx, lock.projectId, lock.campaignId);
    if (campaign.campaignType !== "LOYALTY_PROGRAM") return;
    await announceDeletedProgram(tx, call, campaign.id);
  });
  deps.onEvents();
  throw created;
}

/** Counts the created codes. Generated by a job, they are counted and announced by the job. */
async function finish(
  deps: Deps,
  call: Call,
  {
    campaign,
    lock,
    createdVouchers,
  }: Pick<CampaignPlan, "campaign"> & {
    readonly lock: CampaignLock;
    readonly createdVouchers: number;
  },
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await releaseCampaignLock(tx, lock, { status: "DONE", createdVouchers });
    if (createdVouchers === 0) return;
    const change = CampaignChanged_Change.VOUCHERS_GENERATED;
    const event = campaignChanged(deps.newId("event"), campaign, { call, change });
    await enqueue(tx, [event], call);
  });
  deps.onEvents();
}

import { duplicate } from "@scrip/errors";
import type { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { type Call, type Handler, reservedOrNewId } from "@scrip/rpc";

import { newToken } from "../campaign/campaign-lock.ts";
import { inherit, makeVouchers } from "../campaign/create-vouchers.ts";
import { type NewCampaignPlan, planCampaign } from "../campaign/plan-campaign.ts";
import { categoryIdOf } from "../category/resolve-category.ts";
import type { Deps } from "../deps.ts";
import type { PromotionTier } from "../domain/promotion.ts";
import { toCampaign } from "../mapping/campaign.ts";
import { planTiers } from "../promotion/plan-tiers.ts";
import { endTurn, type Turn } from "../store/campaign-lock.ts";
import { deleteCampaign, findCampaign, insertCampaign } from "../store/campaigns.ts";
import { insertTier, listTiersOf } from "../store/promotion-tiers.ts";

export const createCampaign =
  (deps: Deps): Handler<typeof CampaignService.method.createCampaign> =>
  async (request, call) => {
    const id = reservedOrNewId(request, call, () => deps.newId("camp"));
    const projectId = call.project.id;
    // Before the category, which a refused request should not have made.
    planCampaign(request, call, { id, categoryId: undefined });
    const tiers = await planTiers(deps, call, {
      campaignId: id,
      tiers: request.promotion?.tiers ?? [],
    });
    const categoryId = await categoryIdOf(deps, request, call);
    const plan = planCampaign(request, call, { id, categoryId });

    const turn = { projectId, campaignId: id, token: newToken() };
    await insert(deps, turn, { plan, tiers });
    // Also when there are no codes to make: the voucher service publishes from campaigns that it knows.
    if (plan.campaign.voucher !== null) await makeCodes(deps, call, { plan, turn });
    const made = await findCampaign(deps.db, projectId, id);
    if (made === undefined) throw new Error("the campaign that was just made is gone");
    const own = await listTiersOf(deps.db, projectId, tiers.length === 0 ? [] : [id]);
    // As it was before its codes were made, whether they are by now or not (⚑D5).
    const { creationStatus, generationStatus, vouchersCount } = plan.campaign;
    return toCampaign({
      campaign: { ...made.campaign, creationStatus, generationStatus, vouchersCount },
      category: made.category,
      tiers: own.get(id),
    });
  };

async function insert(
  deps: Deps,
  { projectId, token }: Turn,
  { plan, tiers }: { readonly plan: NewCampaignPlan; readonly tiers: readonly PromotionTier[] },
): Promise<void> {
  const { campaign } = plan;
  await deps.definitions.write(projectId, async (tx) => {
    const turn = campaign.voucher === null ? null : token;
    if ((await insertCampaign(tx, projectId, { campaign, turn })) === "name_taken") {
      throw duplicate("campaign", "name", campaign.name);
    }
    for (const tier of tiers) await insertTier(tx, projectId, tier);
  });
}

/** All codes or none: a campaign that cannot have them is not made. */
async function makeCodes(
  deps: Deps,
  call: Call,
  { plan, turn }: { readonly plan: NewCampaignPlan; readonly turn: Turn },
): Promise<void> {
  const { campaign, count } = plan;
  const own = campaign.voucher?.code == null ? {} : { code: campaign.voucher.code };
  const items = Array.from({ length: count }, () => inherit(campaign, own));
  const made = await makeVouchers(deps, call, { campaign, items }).catch(async (error: unknown) => {
    // Whether there are codes is not known, so the campaign stays and says that it failed.
    await endTurn(deps.db, turn, { status: "FAILED", vouchersMade: 0 });
    throw error;
  });
  if (!(made instanceof Error)) {
    await endTurn(deps.db, turn, { status: "DONE", vouchersMade: made.length });
    return;
  }
  await deps.definitions.write(turn.projectId, (tx) =>
    deleteCampaign(tx, turn.projectId, turn.campaignId),
  );
  throw made;
}

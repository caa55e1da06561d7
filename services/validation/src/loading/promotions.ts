import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { RedeemableInput } from "../mapping/decision-input.ts";
import { type Promotions, promotionsFromProto, byId } from "../mapping/promotions.ts";

/** The tiers and stacks of a request, with their campaigns. */
export async function loadPromotions(
  deps: Pick<Deps, "clients">,
  call: Call,
  refs: readonly RedeemableInput[],
  tierSummaries: boolean,
): Promise<Promotions> {
  const tierIds = idsOf(refs, "promotion_tier");
  const stackIds = idsOf(refs, "promotion_stack");
  return promotionsFromProto(
    await deps.clients.resolveCampaigns(
      {
        projectId: call.project.id,
        tierIds,
        stackIds,
        tierSummaries,
      },
      call,
    ),
  );
}

/** All active tiers of active campaigns. */
export async function loadActivePromotions(
  deps: Pick<Deps, "clients">,
  call: Call,
): Promise<Promotions> {
  const projectId = call.project.id;
  return promotionsFromProto(
    await deps.clients.resolveCampaigns({ projectId, allActiveTiers: true }, call),
  );
}

/** Adds the campaigns of vouchers to those already loaded. */
export async function addCampaigns(
  deps: Pick<Deps, "clients">,
  call: Call,
  { known, ids }: { readonly known: Promotions["campaigns"]; readonly ids: readonly string[] },
): Promise<Promotions["campaigns"]> {
  const campaignIds = [...new Set(ids)].filter((id) => !known.has(id));
  if (campaignIds.length === 0) return known;
  const { campaigns } = await deps.clients.resolveCampaigns(
    {
      projectId: call.project.id,
      campaignIds,
    },
    call,
  );
  return new Map([...known, ...byId(campaigns)]);
}

const idsOf = (refs: readonly RedeemableInput[], object: RedeemableInput["object"]): string[] =>
  refs.flatMap((ref) => (ref.object === object ? [ref.id] : []));

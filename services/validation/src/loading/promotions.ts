import type {
  CampaignResult,
  CampaignDefinition,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { PromotionStack, PromotionTier } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { RedeemableInput } from "../mapping/decision-input.ts";

/** Promotion tiers and stacks by id, and all campaigns that a request has to do with. */
export type Promotions = {
  readonly tiers: ReadonlyMap<string, PromotionTier>;
  readonly stacks: ReadonlyMap<string, PromotionStack>;
  readonly campaigns: ReadonlyMap<string, CampaignDefinition>;
};

export const NO_PROMOTIONS: Promotions = {
  tiers: new Map(),
  stacks: new Map(),
  campaigns: new Map(),
};

/** The tiers and stacks that a request names, with their campaigns. */
export async function loadPromotions(
  deps: Pick<Deps, "clients">,
  call: Call,
  refs: readonly RedeemableInput[],
): Promise<Promotions> {
  const tierIds = idsOf(refs, "promotion_tier");
  const stackIds = idsOf(refs, "promotion_stack");
  return promotionsFromProto(
    await deps.clients.resolveCampaigns({ projectId: call.project.id, tierIds, stackIds }),
  );
}

export const hasPromotions = (refs: readonly RedeemableInput[]): boolean =>
  refs.some(({ object }) => object !== "voucher");

/** Every tier that is switched on, in a campaign that is. */
export async function loadActivePromotions(
  deps: Pick<Deps, "clients">,
  call: Call,
): Promise<Promotions> {
  const projectId = call.project.id;
  return promotionsFromProto(
    await deps.clients.resolveCampaigns({ projectId, allActiveTiers: true }),
  );
}

/** The campaigns of vouchers, beside those that are known already. */
export async function addCampaigns(
  deps: Pick<Deps, "clients">,
  call: Call,
  { known, ids }: { readonly known: Promotions["campaigns"]; readonly ids: readonly string[] },
): Promise<Promotions["campaigns"]> {
  const campaignIds = [...new Set(ids)].filter((id) => !known.has(id));
  if (campaignIds.length === 0) return known;
  const { campaigns } = await deps.clients.resolveCampaigns({
    projectId: call.project.id,
    campaignIds,
  });
  return new Map([...known, ...byId(campaigns)]);
}

/** A stack stands for its tiers, in its order; an unknown one for itself. */
export const expandStacks = (
  refs: readonly RedeemableInput[],
  { stacks }: Promotions,
): readonly RedeemableInput[] =>
  stacks.size === 0
    ? refs
    : refs.flatMap((ref): readonly RedeemableInput[] => {
        const stack = ref.object === "promotion_stack" ? stacks.get(ref.id) : undefined;
        return stack?.tiers === undefined
          ? [ref]
          : stack.tiers.ids.map((id) => ({ object: "promotion_tier", id }));
      });

export const promotionsFromProto = ({ tiers, stacks, campaigns }: CampaignResult): Promotions => ({
  tiers: byId(tiers),
  stacks: byId(stacks),
  campaigns: byId(campaigns),
});

const byId = <Item extends { readonly id: string }>(items: readonly Item[]): Map<string, Item> =>
  new Map(items.map((item) => [item.id, item]));

const idsOf = (refs: readonly RedeemableInput[], object: RedeemableInput["object"]): string[] =>
  refs.flatMap((ref) => (ref.object === object ? [ref.id] : []));

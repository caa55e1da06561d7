import type {
  CampaignResult,
  CampaignDefinition,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { PromotionStack, PromotionTier } from "@scrip/proto/scrip/campaign/v1/promotions_pb";

import type { RedeemableInput } from "./decision-input.ts";

/** Promotion tiers and stacks by id, with all campaigns of the request. */
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

export const hasPromotions = (refs: readonly RedeemableInput[]): boolean =>
  refs.some(({ object }) => object !== "voucher");

/** Replaces each stack by its tiers, in order; an unknown stack stays. */
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

export const byId = <Item extends { readonly id: string }>(
  items: readonly Item[],
): Map<string, Item> => new Map(items.map((item) => [item.id, item]));

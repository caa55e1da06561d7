import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import type { LoadedCard } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { LoadedVoucher } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { ValidationRule } from "@scrip/rules";

import type { Redeemable } from "../domain/input/redeemable.ts";
import type { CampaignSnapshot, TierSnapshot, VoucherSnapshot } from "../domain/input/voucher.ts";
import { campaignFromProto, categoryFromProto, promotionTierFromProto } from "./campaign.ts";
import { cardValue, chosenReward } from "./card.ts";
import type { RedeemableInput } from "./decision-input.ts";
import type { Promotions } from "./promotions.ts";
import { voucherFromProto } from "./voucher.ts";

/** Everything loaded for the redeemables of a request. */
export type LoadedRedeemables = {
  readonly redeemables: readonly RedeemableInput[];
  readonly vouchers: ReadonlyMap<string, LoadedVoucher>;
  /** Loyalty cards, by the ids of their vouchers. */
  readonly cards: ReadonlyMap<string, LoadedCard>;
  /** Including the campaigns of the vouchers. */
  readonly promotions: Promotions;
  /** By the id of the voucher, tier, campaign or reward assignment. */
  readonly rules: ReadonlyMap<string, readonly ValidationRule[]>;
  /** Categories of vouchers by id; null where ids suffice. */
  readonly categories: ReadonlyMap<string, Category> | null;
};

/** The redeemables as the decision sees them; shared objects such as campaigns are built once. */
export function redeemablesFromProto(loaded: LoadedRedeemables): readonly Redeemable[] {
  const campaigns = new Map<string, CampaignSnapshot>();
  const campaignOf = (id: string | undefined): CampaignSnapshot | null => {
    const definition = id === undefined ? undefined : loaded.promotions.campaigns.get(id);
    if (definition === undefined) return null;
    const known = campaigns.get(definition.id);
    if (known !== undefined) return known;
    const snapshot = campaignFromProto(definition, rulesOf(loaded, definition.id));
    campaigns.set(definition.id, snapshot);
    return snapshot;
  };
  return loaded.redeemables.map((ref) =>
    ref.object === "voucher"
      ? {
          object: "voucher",
          id: ref.id,
          voucher: voucherOf(loaded, ref.id, campaignOf),
          credits: ref.gift?.credits ?? null,
          reward: chosenReward(ref, cardOf(loaded, ref.id)),
        }
      : { object: ref.object, id: ref.id, tier: tierOf(loaded, ref, campaignOf) },
  );
}

const cardOf = ({ vouchers, cards }: LoadedRedeemables, code: string): LoadedCard | undefined =>
  cards.get(vouchers.get(code)?.voucher?.id ?? "");

type CampaignOf = (id: string | undefined) => CampaignSnapshot | null;

function voucherOf(
  loaded: LoadedRedeemables,
  code: string,
  campaignOf: CampaignOf,
): VoucherSnapshot | null {
  const voucher = loaded.vouchers.get(code);
  const snapshot = voucher && voucherFromProto(voucher);
  if (!snapshot) return null;
  const { categories } = loaded;
  const { campaignId } = voucher.voucher ?? {};
  const campaign = campaignOf(campaignId);
  // Its campaign was deleted, and a job deletes its vouchers.
  if (campaignId !== undefined && campaign === null) return null;
  const card = loaded.cards.get(snapshot.id);
  const assignmentId = card?.assignment?.id;
  const rules = rulesOf(loaded, snapshot.id);
  return {
    ...snapshot,
    ...(card !== undefined && { value: cardValue(card) }),
    campaign,
    // Paying with points must satisfy the rules of the reward assignment too.
    rules: assignmentId === undefined ? rules : [...rules, ...rulesOf(loaded, assignmentId)],
    // A deleted category no longer counts.
    ...(categories !== null && {
      categories: snapshot.categories.flatMap(({ id }) => {
        const category = categories.get(id);
        return category === undefined ? [] : [categoryFromProto(category)];
      }),
    }),
  };
}

function tierOf(
  loaded: LoadedRedeemables,
  ref: RedeemableInput,
  campaignOf: CampaignOf,
): TierSnapshot | null {
  const tier = ref.object === "promotion_tier" ? loaded.promotions.tiers.get(ref.id) : undefined;
  if (tier === undefined) return null;
  return promotionTierFromProto(tier, campaignOf(tier.campaignId), rulesOf(loaded, tier.id));
}

const rulesOf = ({ rules }: LoadedRedeemables, id: string): readonly ValidationRule[] =>
  rules.get(id) ?? NO_RULES;

const NO_RULES: readonly ValidationRule[] = [];

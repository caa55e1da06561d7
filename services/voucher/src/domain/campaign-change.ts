import type { DiscountDefinition, Validity } from "@scrip/rules";

import type { GiftEffect, Metadata } from "./voucher.ts";

/** A change of a campaign's terms: undefined keeps a value, null clears it. */
export type CampaignChange = {
  readonly categoryId: string | null | undefined;
  readonly validity: Partial<Validity>;
  readonly activityDuration: string | null | undefined;
  readonly discount: DiscountDefinition | undefined;
  readonly giftAmount: bigint | undefined;
  readonly giftEffect: GiftEffect | undefined;
  readonly loyaltyPoints: bigint | undefined;
  readonly metadata: Metadata;
  readonly unsetMetadataFields: readonly string[];
};

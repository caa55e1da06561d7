import { type Json, newCode } from "../../stack/api.ts";
import { createLoyaltyProgram } from "../../stack/loyalty-program.ts";
import { AMOUNT_OFF, type Shop } from "./shop.ts";

export const INVALID_DISCOUNT = { type: "PERCENT" };

export const DISCOUNT_VOUCHER = { type: "DISCOUNT_VOUCHER", discount: AMOUNT_OFF };

export const ANN = { source_id: "ann" };

export const program = (shop: Shop): Promise<string> =>
  createLoyaltyProgram(shop.api).then(({ campaignId }) => campaignId);

/** An order of the project, and its source id. */
export const order = (shop: Shop): Promise<Json> =>
  shop.create("/v1/orders", { source_id: newCode("order"), amount: 1000 });

export const claimOrder = (shop: Shop, id: string): Promise<void> =>
  shop.sql(
    `update validation.shop_order
        set claimed_by = 'another request', claimed_until = now() + interval '10 minutes'
      where project_id = $1 and id = $2`,
    [shop.projectId, id],
  );

/** A code of a referral program, published to `holder` unless that is undefined. */
export async function referralCode(shop: Shop, holder: Json | undefined): Promise<string> {
  const { id } = await shop.campaign({ campaign_type: "REFERRAL_PROGRAM" });
  const { code } = await shop.create(`/v1/campaigns/${id}/vouchers`);
  if (holder !== undefined)
    await shop.create("/v1/publications", { voucher: code, customer: holder });
  return code;
}

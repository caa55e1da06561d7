import type { DescMessage, Message, MessageInitShape } from "@bufbuild/protobuf";
import { CampaignKind, CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { CreatePromotionTierRequestSchema } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  type CreateVoucherRequestSchema,
  type Voucher,
  VoucherType,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Services } from "./deps.ts";

/** The fields of a message, without its metadata (`$typeName`, `$unknown`). */
type Fields<Schema extends DescMessage> = Exclude<MessageInitShape<Schema>, Message>;

export const TEN_PERCENT = { type: DiscountType.PERCENT, percentOff: "10" };

let codes = 0;
/** A unique code. */
export const newCode = (prefix = "CODE"): string => `${prefix}-${process.pid}-${(codes += 1)}`;

/** Creates a voucher: 10 % off the order by default. */
export const createVoucher = (
  { vouchers }: Pick<Services, "vouchers">,
  call: Call,
  fields: Fields<typeof CreateVoucherRequestSchema> = {},
): Promise<Voucher> =>
  vouchers.createVoucher(
    { code: newCode(), type: VoucherType.DISCOUNT_VOUCHER, discount: TEN_PERCENT, ...fields },
    call,
  );

/** Creates a gift card with a balance in minor units. */
export const createGiftCard = (
  services: Pick<Services, "vouchers">,
  call: Call,
  amount: bigint,
): Promise<Voucher> =>
  createVoucher(services, call, {
    type: VoucherType.GIFT_VOUCHER,
    gift: { amount, balance: amount },
    discount: undefined,
  });

/** Creates a promotion campaign with one tier: 10 % off the order by default. */
export async function createPromotionTier(
  { campaigns, promotions }: Pick<Services, "campaigns" | "promotions">,
  call: Call,
  fields: Fields<typeof CreatePromotionTierRequestSchema> = {},
) {
  const campaign = await campaigns.createCampaign(
    {
      name: newCode("Campaign"),
      campaignType: CampaignType.PROMOTION,
      type: CampaignKind.AUTO_UPDATE,
    },
    call,
  );
  return promotions.createPromotionTier(
    { campaignId: campaign.id, name: "Tier", action: { discount: TEN_PERCENT }, ...fields },
    call,
  );
}

export const voucherRef = (id: string) => ({ object: "voucher", id });

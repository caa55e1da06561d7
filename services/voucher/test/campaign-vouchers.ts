import { randomBytes } from "node:crypto";

import type { MessageInitShape } from "@bufbuild/protobuf";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import type {
  CampaignVoucherService,
  CreateVoucherOutcome,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import {
  type CreateVoucherRequestSchema,
  type Voucher,
  VoucherType,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Client } from "@scrip/rpc";

import type { TestService } from "./deps.ts";

export type VoucherInit = MessageInitShape<typeof CreateVoucherRequestSchema>;

export const percent = (percentOff: string) => ({ type: DiscountType.PERCENT, percentOff });

export const coupon = (more: object = {}): VoucherInit => ({
  type: VoucherType.DISCOUNT_VOUCHER,
  discount: percent("10"),
  ...more,
});

/** A campaign as requests for its vouchers describe it. */
export const newCampaign = (more: object = {}) => ({
  id: `camp_${randomBytes(6).toString("hex")}`,
  name: `Spring ${randomBytes(6).toString("hex")}`,
  campaignType: "DISCOUNT_COUPONS",
  vouchersCount: 0n,
  ...more,
});

/** Creates vouchers of a campaign. */
export const createIn =
  (client: Client<typeof CampaignVoucherService>, service: TestService) =>
  async (
    campaign: ReturnType<typeof newCampaign>,
    vouchers: readonly VoucherInit[],
  ): Promise<CreateVoucherOutcome[]> => {
    const items = vouchers.map((voucher) => ({ voucher }));
    return (await client.createVouchers({ campaign, items }, service.call())).outcomes;
  };

export const createdVouchers = (outcomes: readonly CreateVoucherOutcome[]): Voucher[] =>
  outcomes.map(({ outcome }) => {
    if (outcome.case !== "voucher") throw new Error(`rejected: ${outcome.value?.details}`);
    return outcome.value;
  });

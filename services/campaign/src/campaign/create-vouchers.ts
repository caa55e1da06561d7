import { errorFromProto } from "@scrip/errors";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, stepCall } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { Campaign } from "../domain/campaign.ts";
import { type VoucherItem, voucherCampaignToProto } from "../mapping/campaign-voucher.ts";

/** Creates all vouchers or none; returns the rejection of the first one that cannot be created. */
export async function createVouchers(
  deps: Deps,
  call: Call,
  { campaign, items }: { readonly campaign: Campaign; readonly items: readonly VoucherItem[] },
): Promise<readonly Voucher[] | Error> {
  const { outcomes } = await deps.vouchers.createVouchers(
    {
      campaign: voucherCampaignToProto(campaign),
      items: [...items],
      allOrNone: true,
    },
    stepCall(call, "vouchers"),
  );
  for (const { outcome } of outcomes) {
    if (outcome.case === "rejected") return errorFromProto(outcome.value);
  }
  return outcomes.flatMap(({ outcome }) => (outcome.case === "voucher" ? outcome.value : []));
}

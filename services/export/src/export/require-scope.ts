import { ApiError, notFound } from "@scrip/errors";
import { type CampaignDefinition, CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { batchCall, type Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

/** The kinds of balances of vouchers: only these have transactions. */
export type Balance = "gift" | "loyalty";

/** Finds a campaign by its id or name whose vouchers hold a balance. A campaign of another kind than `only` is unknown. */
export async function requireCampaign(
  { campaigns }: Pick<Deps, "campaigns">,
  call: Call,
  idOrName: string,
  only?: Balance,
): Promise<{ readonly id: string; readonly balance: Balance }> {
  const { results } = await campaigns.resolveCampaigns(
    {
      queries: [{ projectId: call.project.id, campaignIds: [idOrName], campaignNames: [idOrName] }],
    },
    batchCall(call.requestId, call.deadline, call.now),
  );
  const found = results[0]?.campaigns ?? [];
  const campaign = found.find(({ id }) => id === idOrName) ?? found[0];
  const balance = campaign && balanceOfCampaign(campaign);
  if (campaign === undefined || (only !== undefined && balance !== only)) {
    throw notFound("campaign", idOrName);
  }
  if (balance === undefined) {
    throw new ApiError("forbidden", {
      details: "Transactions are allowed only for loyalty or gift campaigns",
    });
  }
  return { id: campaign.id, balance };
}

function balanceOfCampaign({ campaignType }: CampaignDefinition): Balance | undefined {
  if (campaignType === CampaignType.GIFT_VOUCHERS) return "gift";
  return campaignType === CampaignType.LOYALTY_PROGRAM ? "loyalty" : undefined;
}

/** Finds a voucher by its code or id that holds a balance; one of another kind or campaign is unknown. */
export async function requireVoucher(
  { vouchers }: Pick<Deps, "vouchers">,
  call: Call,
  code: string,
  {
    balance: only,
    campaignId,
  }: { readonly balance?: Balance; readonly campaignId?: string | undefined } = {},
): Promise<{ readonly id: string; readonly balance: Balance }> {
  const voucher = await vouchers.getVoucher({ code }, { ...call, idempotency: undefined });
  const balance = BALANCES.get(voucher.type);
  if (
    (only !== undefined && balance !== only) ||
    (campaignId !== undefined && voucher.campaignId !== campaignId)
  ) {
    throw notFound("voucher", code);
  }
  if (balance === undefined) {
    throw new ApiError("forbidden", { details: `Voucher ${code} holds no credits or points` });
  }
  return { id: voucher.id, balance };
}

const BALANCES: ReadonlyMap<VoucherType, Balance> = new Map([
  [VoucherType.GIFT_VOUCHER, "gift"],
  [VoucherType.LOYALTY_CARD, "loyalty"],
]);

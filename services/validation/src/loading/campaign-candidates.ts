import { type Campaign, CampaignKind } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { candidateFromCampaign } from "../mapping/campaign-candidate.ts";
import { candidateFromVoucher, type LoadedCandidate } from "../mapping/candidate.ts";
import { loadVouchers } from "./vouchers.ts";

/**
 * What to evaluate for each campaign: the one voucher of a STANDALONE campaign, which may be exhausted,
 * and otherwise a new voucher of the campaign with the given holder.
 */
export async function loadCampaignCandidates(
  deps: Pick<Deps, "clients">,
  call: Call,
  {
    campaigns,
    holderId,
  }: { readonly campaigns: readonly Campaign[]; readonly holderId: string | undefined },
): Promise<readonly LoadedCandidate[]> {
  const codes = campaigns.flatMap((campaign) => publicCode(campaign) ?? []);
  const { vouchers } = codes.length === 0 ? NONE : await loadVouchers(deps, call, { codes });
  return [
    ...vouchers.flatMap((voucher) => candidateFromVoucher({ voucher })),
    ...campaigns.flatMap((campaign) =>
      publicCode(campaign) === undefined ? candidateFromCampaign(campaign, holderId) : [],
    ),
  ];
}

const NONE = { vouchers: [] };

const publicCode = ({ type, voucher }: Campaign): string | undefined =>
  type === CampaignKind.STANDALONE ? voucher?.code : undefined;

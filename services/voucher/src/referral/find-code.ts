import { notFound } from "@scrip/errors";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findCampaign } from "../store/campaigns.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { findVoucher } from "../store/vouchers.ts";

/** How a path names a voucher of a referral program; the campaign is empty in the shorter paths. */
export type MemberPath = { readonly campaignId: string; readonly memberId: string };

/** The voucher of a path, or `not_found`: also when it is not of the campaign in the path. */
export async function requireMember(
  { db }: Pick<Deps, "db">,
  { campaignId, memberId }: MemberPath,
  { project }: Call,
): Promise<StoredVoucher> {
  const [campaign, voucher] = await Promise.all([
    campaignId === "" ? undefined : findCampaign(db, project.id, campaignId),
    findVoucher(db, project.id, memberId),
  ]);
  if (campaignId !== "" && campaign === undefined) throw notFound("campaign", campaignId);
  if (voucher === undefined) throw notFound("voucher", memberId);
  if (campaign !== undefined && voucher.definition.campaignId !== campaign.id) {
    throw notFound("voucher", memberId);
  }
  return voucher;
}

/** The referral code of a path; other vouchers have no referees and are `not_found`. */
export async function requireReferralCode(
  deps: Pick<Deps, "db">,
  path: MemberPath,
  call: Call,
): Promise<StoredVoucher> {
  const voucher = await requireMember(deps, path, call);
  if (!voucher.definition.isReferralCode) throw notFound("voucher", path.memberId);
  return voucher;
}

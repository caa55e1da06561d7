import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { statusAfterAddingVouchers } from "../domain/campaign-status.ts";
import type { Campaign } from "../domain/campaign.ts";
import type { VoucherItem } from "../mapping/campaign-voucher.ts";
import { releaseCampaignLock } from "../store/campaign-lock.ts";
import { acquireCampaignLock } from "./campaign-lock.ts";
import { createVouchers } from "./create-vouchers.ts";

/** Adds vouchers to a campaign under its lock, all or none, and returns the first. */
export async function addVouchers(
  deps: Deps,
  call: Call,
  campaignId: string,
  itemsOf: (campaign: Campaign) => readonly VoucherItem[],
): Promise<Voucher> {
  const { lock, record } = await acquireCampaignLock(deps, call, campaignId);
  const { campaign } = record;
  let created: readonly Voucher[] = [];
  try {
    const outcome = await createVouchers(deps, call, { campaign, items: itemsOf(campaign) });
    if (outcome instanceof Error) throw outcome;
    created = outcome;
  } finally {
    const status = statusAfterAddingVouchers(campaign.creationStatus);
    await releaseCampaignLock(deps.db, lock, { status, createdVouchers: created.length });
  }
  const [first] = created;
  if (first === undefined) throw new Error("no voucher was created and none was rejected");
  return first;
}

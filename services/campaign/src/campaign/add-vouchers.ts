import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import { type Deps, stepDeps } from "../deps.ts";
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
  const steps = stepDeps(deps);
  const { lock, record } = await acquireCampaignLock(steps, call, campaignId);
  const { campaign } = record;
  const status = statusAfterAddingVouchers(campaign.creationStatus);
  const created = await createVouchers(deps, call, { campaign, items: itemsOf(campaign) }).catch(
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
  if (created instanceof Error) {
    await releaseCampaignLock(steps.db, lock, { status, createdVouchers: 0 });
    throw created;
  }
  await releaseCampaignLock(deps.db, lock, { status, createdVouchers: created.length });
  const [first] = created;
  if (first === undefined) throw new Error("no voucher was created and none was rejected");
  return first;
}

import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { Campaign } from "../domain/campaign.ts";
import { endTurn } from "../store/campaign-lock.ts";
import { awaitTurn } from "./campaign-lock.ts";
import { makeVouchers, type VoucherItem } from "./create-vouchers.ts";

/** Adds vouchers to a campaign when it is its turn, all or none, and answers the first. */
export async function addVouchers(
  deps: Deps,
  call: Call,
  campaignId: string,
  itemsOf: (campaign: Campaign) => readonly VoucherItem[],
): Promise<Voucher> {
  const { turn, record } = await awaitTurn(deps, call, campaignId);
  const { campaign } = record;
  let made: readonly Voucher[] = [];
  try {
    const outcome = await makeVouchers(deps, call, { campaign, items: itemsOf(campaign) });
    if (outcome instanceof Error) throw outcome;
    made = outcome;
  } finally {
    const status = campaign.creationStatus === "FAILED" ? "FAILED" : "DONE";
    await endTurn(deps.db, turn, { status, vouchersMade: made.length });
  }
  const [first] = made;
  if (first === undefined) throw new Error("no voucher was made and none was refused");
  return first;
}

import { capacityOf, capacityViolation, exhaustedText } from "@scrip/codes";
import { ApiError } from "@scrip/errors";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { Campaign } from "../domain/campaign.ts";
import { invalidCampaignParams } from "../domain/errors.ts";
import type { VoucherItem } from "../mapping/campaign-voucher.ts";
import { requireMask } from "../mapping/code-config.ts";
import { findPending } from "../store/campaign-jobs.ts";

export type VoucherAddition = {
  readonly campaign: Campaign;
  readonly item: VoucherItem;
  readonly count: bigint;
};

/**
 * Rejects more vouchers than the campaign may have, or more codes than its mask has left. Includes the vouchers that
 * waiting jobs will generate, so that no job is started that would fail for lack of codes.
 */
export async function requireCapacity(
  deps: Pick<Deps, "db" | "vouchers" | "maxVouchers">,
  call: Call,
  { campaign, item, count }: VoucherAddition,
): Promise<void> {
  const { toGenerate } = await findPending(deps.db, call.project.id, campaign.id);
  requireSize(deps.maxVouchers, campaign.vouchersCount + toGenerate, count);
  const { length = 0n, ...settings } = item.voucher?.codeConfig ?? {};
  const mask = requireMask({ ...settings, length: Number(length) }, call.project);
  // Counting codes is slow, and needed only if all vouchers of the campaign would exceed the capacity.
  if (capacityViolation(mask, campaign.vouchersCount + toGenerate + count) === null) return;
  const { count: existing } = await deps.vouchers.countCodes(
    { campaignId: campaign.id, codeConfig: item.voucher?.codeConfig },
    call,
  );
  if (capacityViolation(mask, existing + toGenerate + count) === null) return;
  throw new ApiError("invalid_code_config", { details: exhaustedText(capacityOf(mask), count) });
}

/** Rejects more vouchers than a campaign may have. */
export function requireSize(maxVouchers: number, existing: bigint, count: bigint): void {
  if (existing + count <= maxVouchers) return;
  throw invalidCampaignParams(
    `A campaign can have up to ${maxVouchers} vouchers: ${existing} exist, ${count} are requested`,
  );
}

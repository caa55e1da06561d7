import { ApiError, errorToProto } from "@scrip/errors";
import { enumName, itemOutcome, rejectedItem } from "@scrip/mapping";
import type { CampaignImportService } from "@scrip/proto/scrip/campaign/v1/voucher_imports_pb";
import { type ItemOutcome, ItemResult } from "@scrip/proto/scrip/common/v1/items_pb";
import type { ImportedVoucher } from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import {
  type CreateVoucherRequest,
  VoucherType as VoucherTypes,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, type Handler, stepCall } from "@scrip/rpc";

import { acquireCampaignLock } from "../campaign/campaign-lock.ts";
import { type Deps, stepDeps } from "../deps.ts";
import { statusAfterAddingVouchers } from "../domain/campaign-status.ts";
import { type Campaign, voucherTypeOf } from "../domain/campaign.ts";
import { checkVoucherCreation } from "../domain/check-campaign.ts";
import { invalidCampaign, invalidCampaignParams } from "../domain/errors.ts";
import { inheritFromCampaign, voucherCampaignToProto } from "../mapping/campaign-voucher.ts";
import { releaseCampaignLock } from "../store/campaign-lock.ts";

/** Under the campaign lock, so that vouchers imported during an update of the campaign have its new values. */
export const importCampaignVouchers =
  (deps: Deps): Handler<typeof CampaignImportService.method.importCampaignVouchers> =>
  async ({ campaignId, items, updatesExisting }, call) => {
    const steps = stepDeps(deps);
    const { lock, record } = await acquireCampaignLock(steps, call, campaignId);
    const { campaign } = record;
    const status = statusAfterAddingVouchers(campaign.creationStatus);
    try {
      const violation = checkVoucherCreation(campaign);
      if (violation !== null) throw invalidCampaign(violation);
      const batch = { campaign, items, updatesExisting };
      const outcomes = await importAll(deps, call, batch);
      const createdVouchers = outcomes.filter(isCreated).length;
      await releaseCampaignLock(deps.db, lock, { status, createdVouchers });
      return { $typeName: "scrip.campaign.v1.ImportCampaignVouchersResponse", outcomes };
    } catch (error) {
      await releaseCampaignLock(steps.db, lock, { status, createdVouchers: 0 });
      throw error;
    }
  };

const isCreated = ({ outcome }: ItemOutcome): boolean =>
  outcome.case === "result" && outcome.value === ItemResult.CREATED;

type Batch = {
  readonly campaign: Campaign;
  readonly items: readonly ImportedVoucher[];
  readonly updatesExisting: boolean;
};

/** Items that are rejected here do not reach the voucher service. */
async function importAll(
  { imports, maxVouchers }: Deps,
  call: Call,
  { campaign, items, updatesExisting }: Batch,
): Promise<ItemOutcome[]> {
  if (items.length === 0) return [];
  const room = BigInt(maxVouchers) - campaign.vouchersCount;
  const full = invalidCampaignParams(`A campaign can have up to ${maxVouchers} vouchers`);
  const rejections = items.map(
    (item, index) => rejectionOf(campaign, item) ?? (BigInt(index) >= room ? full : undefined),
  );
  const accepted = items.filter((_, index) => rejections[index] === undefined);
  const { outcomes } = await imports.importVouchers(
    {
      campaign: voucherCampaignToProto(campaign),
      updatesExisting,
      items: accepted.map((item) => inheritAll(campaign, item, call)),
    },
    stepCall(call, "vouchers"),
  );
  let next = 0;
  return rejections.map((error) => {
    if (error !== undefined) return rejectedItem(errorToProto(error, call.requestId));
    const outcome = outcomes[next++];
    return outcome ?? itemOutcome(ItemResult.UNSPECIFIED);
  });
}

function rejectionOf(
  { campaignType }: Campaign,
  { voucher }: ImportedVoucher,
): ApiError | undefined {
  const sent = enumName(VoucherTypes, voucher?.type ?? VoucherTypes.UNSPECIFIED);
  const type = voucherTypeOf(campaignType);
  if (sent !== undefined && sent !== type) {
    return new ApiError("invalid_voucher", {
      details: `Vouchers of a ${campaignType} campaign must be of type ${type}`,
    });
  }
  return undefined;
}

function inheritAll(campaign: Campaign, item: ImportedVoucher, call: Call) {
  const { $typeName: _, voucher, ...rest } = item;
  const {
    $typeName: _type,
    campaign: _name,
    campaignId: _id,
    category: _category,
    ...own
  } = voucher ?? NOTHING;
  const { expirationDate } = campaign.validity;
  const hasExpired = expirationDate !== null && expirationDate < call.now;
  const active = own.active ?? (hasExpired ? false : undefined);
  return { ...rest, ...inheritFromCampaign(campaign, { ...own, active }) };
}

const NOTHING: Partial<CreateVoucherRequest> = {};

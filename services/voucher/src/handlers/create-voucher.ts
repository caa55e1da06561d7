import type { CodeConfig } from "@scrip/codes";
import { invalidPayload } from "@scrip/errors";
import type {
  CreateVoucherRequest,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, type Handler, reservedOrNewId } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { codeMaskFromProto } from "../mapping/code-mask.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import { newUsage } from "../store/voucher-writes.ts";
import { insertWithCode } from "../voucher/insert-with-code.ts";
import { draftVoucher } from "../voucher/new-voucher.ts";

export const createVoucher =
  (deps: Deps): Handler<typeof VoucherService.method.createVoucher> =>
  async (request, call) => {
    rejectNames(request);
    const id = reservedOrNewId(request, call, () => deps.newId("v"));
    const draft = draftVoucher(request, call, { id, campaign: null, activityDuration: null });
    const mask = () =>
      codeMaskFromProto(request.codeConfig, {
        defaults: codeConfigOf(call),
        caseSensitive: call.project.caseSensitiveCodes,
      });
    const voucher = await insertWithCode(deps.db, deps, { request, call, draft, mask });
    return voucherToProto({ definition: voucher.definition, usage: newUsage(voucher) });
  };

/**
 * The gateway resolves names to ids and sends vouchers of campaigns to the campaign service. A gRPC caller must send
 * ids, and create vouchers of campaigns there.
 */
function rejectNames(request: CreateVoucherRequest): void {
  const { campaign, campaignId, category, categoryId } = request;
  if (campaignId !== undefined || campaign !== undefined) {
    throw invalidPayload(
      "Property .campaign_id is supported by the HTTP API only: add vouchers with CampaignService.CreateCampaignVouchers",
    );
  }
  if (category !== undefined && categoryId === undefined) {
    throw invalidPayload("Property .category must be .category_id here");
  }
}

const codeConfigOf = ({ project }: Call): CodeConfig =>
  project.codeConfig === undefined ? {} : (JSON.parse(project.codeConfig) as CodeConfig);

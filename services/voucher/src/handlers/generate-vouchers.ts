import type { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { campaignFromProto, campaignOriginFromProto } from "../mapping/campaign.ts";
import { codeMaskFromProto } from "../mapping/code-mask.ts";
import { generateVouchers as generate } from "../voucher/generate-vouchers.ts";
import { upsertLiveCampaign } from "../voucher/live-campaign.ts";
import { draftVoucher } from "../voucher/new-voucher.ts";

export const generateVouchers =
  (deps: Deps): Handler<typeof CampaignVoucherService.method.generateVouchers> =>
  async ({ campaign, item, count }, call) => {
    const request = item?.voucher;
    if (campaign === undefined || request === undefined) {
      throw new Error("the contract requires a campaign and a voucher");
    }
    const { caseSensitiveCodes: caseSensitive } = call.project;
    const draft = draftVoucher(request, call, {
      // Each voucher gets its own.
      id: "",
      campaign: campaignOriginFromProto(campaign),
      activityDuration: item?.activityDurationAfterPublishing ?? null,
    });
    const mask = codeMaskFromProto(request.codeConfig, { defaults: {}, caseSensitive });
    await deps.db.transaction(async (tx) => {
      await upsertLiveCampaign(tx, call.project.id, campaignFromProto(campaign));
      await generate(tx, deps, { draft, mask, count: Number(count), caseSensitive });
    });
    return { $typeName: "scrip.voucher.v1.GenerateVouchersResponse", generatedCount: count };
  };

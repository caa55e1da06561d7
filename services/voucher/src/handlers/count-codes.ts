import type { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { codeMaskFromProto } from "../mapping/code-mask.ts";
import { countCodes as count } from "../store/campaign-vouchers.ts";

export const countCodes =
  ({ db }: Deps): Handler<typeof CampaignVoucherService.method.countCodes> =>
  async ({ campaignId, codeConfig }, { project }) => {
    const { id: projectId, caseSensitiveCodes: caseSensitive } = project;
    const mask = codeMaskFromProto(codeConfig, { defaults: {}, caseSensitive });
    return {
      $typeName: "scrip.voucher.v1.CountCodesResponse",
      count: await count(db, { projectId, campaignId, mask, caseSensitive }),
    };
  };

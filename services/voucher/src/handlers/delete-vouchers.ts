import { enqueue } from "@scrip/events";
import type {
  CampaignVoucherService,
  DeleteVouchersResponse,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { campaignVouchersDeleted } from "../events/voucher-deleted.ts";
import {
  listAllVoucherIds,
  listCampaignVoucherIds,
  markVouchersDeleted,
  purgeVouchers,
} from "../store/campaign-vouchers.ts";
import { markCampaignDeleted } from "../store/campaigns.ts";

type DeleteVouchers = Handler<typeof CampaignVoucherService.method.deleteVouchers>;

export const deleteVouchers =
  (deps: Deps): DeleteVouchers =>
  async ({ campaignId, afterVoucherId: after, limit, purge }, call) => {
    const projectId = call.project.id;
    const slice = { projectId, campaignId, after, limit: Number(limit), at: call.now };
    const deleted = await deps.db.transaction(async (tx) => {
      await markCampaignDeleted(tx, slice);
      const ids = await (purge ? listAllVoucherIds : listCampaignVoucherIds)(tx, slice);
      const live = await markVouchersDeleted(tx, { ...slice, ids });
      if (purge) await purgeVouchers(tx, projectId, ids);
      if (live.length > 0) {
        const vouchers = { projectId, campaignId, voucherIds: live };
        const event = campaignVouchersDeleted(deps.newId("event"), vouchers, call.now);
        await enqueue(tx, [event], call);
      }
      return { ids, live };
    });
    if (deleted.live.length > 0) deps.onEvents();
    return response(deleted, slice.limit);
  };

const response = (
  { ids, live }: { readonly ids: readonly string[]; readonly live: readonly string[] },
  limit: number,
): DeleteVouchersResponse => ({
  $typeName: "scrip.voucher.v1.DeleteVouchersResponse",
  deletedCount: BigInt(ids.length),
  liveCount: BigInt(live.length),
  lastVoucherId: ids.length < limit ? "" : (ids.at(-1) ?? ""),
});

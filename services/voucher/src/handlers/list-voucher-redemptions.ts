import { notFound } from "@scrip/errors";
import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { withCurrentBalance } from "../loading/card-balances.ts";
import { loadRedemptions } from "../loading/redemptions.ts";
import { pageFromProto } from "../mapping/page.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import { listRedemptions } from "../store/redemptions.ts";
import { findVoucher } from "../store/vouchers.ts";

/** Redemptions are many, so more pages are listed than elsewhere. */
const MAX_PAGE = 1000;

export const listVoucherRedemptions =
  (deps: Deps): Handler<typeof RedemptionService.method.listVoucherRedemptions> =>
  async (request, call) => {
    const projectId = call.project.id;
    const page = pageFromProto(request, { maxPage: MAX_PAGE, overMaxPage: "page_over_limit" });
    const voucher = await findVoucher(deps.db, projectId, request.code);
    if (voucher === undefined) throw notFound("voucher", request.code);
    const name = { projectId, voucherId: voucher.definition.id };
    const { redemptions, total } = await listRedemptions(
      deps.db,
      { ...name, createdAt: request.createdAt },
      page,
    );
    const { redemption: summary } = await withCurrentBalance(deps, voucherToProto(voucher), call);
    return {
      $typeName: "scrip.voucher.v1.VoucherRedemptions",
      quantity: summary?.quantity,
      redeemedQuantity: summary?.redeemedQuantity ?? 0n,
      redeemedAmount: summary?.redeemedAmount,
      redeemedPoints: summary?.redeemedPoints,
      url: summary?.url ?? "",
      total,
      redemptionEntries: await loadRedemptions(deps.db, projectId, redemptions),
    };
  };

import { notFound } from "@scrip/errors";
import type { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { withCurrentBalance } from "../loading/card-balances.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import { findVoucher } from "../store/vouchers.ts";

export const getVoucher =
  (deps: Deps): Handler<typeof VoucherService.method.getVoucher> =>
  async ({ code, asOf }, call) => {
    const voucher = await findVoucher(deps.db, call.project.id, code);
    if (voucher === undefined) throw notFound("voucher", code);
    return withCurrentBalance(deps, voucherToProto(voucher), call, asOf);
  };

import type { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { setActive } from "../voucher/set-active.ts";

export const disableVoucher =
  (deps: Deps): Handler<typeof VoucherService.method.disableVoucher> =>
  ({ code }, call) =>
    setActive(deps, { code, active: false, call });

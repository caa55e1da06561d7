import type { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { drawCodeImage } from "../image/code-image.ts";

export const getQr =
  (deps: Deps): Handler<typeof VoucherService.method.getQr> =>
  (request) =>
    drawCodeImage(deps, "qrcode", request);

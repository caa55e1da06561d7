import type { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteVoucher as hide } from "../store/vouchers.ts";
import { lockVoucher } from "./update-voucher.ts";

export const deleteVoucher =
  (deps: Deps): Handler<typeof VoucherService.method.deleteVoucher> =>
  async ({ code, force }, call) => {
    await deps.db.transaction(async (tx) => {
      const { definition } = await lockVoucher(tx, call.project.id, code);
      await hide(tx, definition, { at: call.now, freesCode: force ?? false });
    });
    return { $typeName: "google.protobuf.Empty" };
  };

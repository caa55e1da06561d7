import type { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { requireVoucher } from "../export/require-scope.ts";
import { startExport } from "../export/start-export.ts";
import { parametersFromProto } from "../mapping/parameters.ts";

export const createVoucherTransactionExport =
  (deps: Deps): Handler<typeof ExportService.method.createVoucherTransactionExport> =>
  async ({ code, parameters, order }, call) => {
    const { id, balance } = await requireVoucher(deps, call, code);
    return startExport(deps, call, {
      object: "voucher_transactions",
      parameters: parametersFromProto(parameters, order),
      scope: { voucherId: id },
      balance,
    });
  };

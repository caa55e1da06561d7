import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { requireNewCodes } from "../imports/check-codes.ts";
import { startItems } from "../imports/start-import.ts";
import { importedVoucherFromRequest } from "../mapping/voucher-to-import.ts";

export const importVouchers =
  (deps: Deps): Handler<typeof ImportService.method.importVouchers> =>
  async ({ vouchers, metadataSchemas: schemas }, call) => {
    await requireNewCodes(deps, call, vouchers);
    return startItems(deps, call, {
      type: "VOUCHERS.IMPORT",
      kind: deps.importKinds.standaloneVouchers,
      items: vouchers.map(importedVoucherFromRequest),
      schemas,
    });
  };

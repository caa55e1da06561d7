import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { startFile } from "../imports/start-import.ts";

export const importVouchersCsv =
  (deps: Deps): Handler<typeof ImportService.method.importVouchersCsv> =>
  ({ fileId, metadataSchemas: schemas, webhooksEnable: sendsWebhooks }, call) =>
    startFile(deps, call, {
      type: "VOUCHERS.IMPORT_CSV",
      kind: deps.importKinds.standaloneVouchers,
      fileId,
      schemas,
      sendsWebhooks,
    });

import { streamExportRows } from "@scrip/exports";
import type { VoucherExportService } from "@scrip/proto/scrip/voucher/v1/exports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { EXPORT_TABLES } from "../store/export-tables.ts";

export const exportRows =
  (deps: Deps): Handler<typeof VoucherExportService.method.exportRows> =>
  (request, call) =>
    streamExportRows(deps.db.bulk, EXPORT_TABLES, request, call);

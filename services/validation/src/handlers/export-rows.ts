import { streamExportRows } from "@scrip/exports";
import type { ValidationExportService } from "@scrip/proto/scrip/validation/v1/exports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { EXPORT_TABLES } from "../store/export-tables.ts";

export const exportRows =
  (deps: Deps): Handler<typeof ValidationExportService.method.exportRows> =>
  (request, call) =>
    streamExportRows(deps.db.bulk, EXPORT_TABLES, request, call);

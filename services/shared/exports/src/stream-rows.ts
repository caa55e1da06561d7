import { ApiError } from "@scrip/errors";
import type { Database } from "@scrip/postgres";
import type {
  ExportRowsRequest,
  ExportRowsResponse,
} from "@scrip/proto/scrip/common/v1/export_rows_pb";

import { isExportedObject } from "./catalogue.ts";
import { type ExportRequest, exportRows } from "./export-rows.ts";
import type { ExportTables } from "./export-table.ts";

/** Handles `ExportRows` of a service that owns rows. */
export async function* streamExportRows(
  bulk: Database["bulk"],
  tables: ExportTables,
  request: ExportRowsRequest,
  call: ExportRequest["call"],
): AsyncIterable<ExportRowsResponse> {
  const { exportedObject: object, fields, order, filters, campaignId, voucherId } = request;
  const found = isExportedObject(object) ? tables[object] : undefined;
  if (!isExportedObject(object) || found === undefined) throw new ApiError("not_implemented");
  const table = typeof found === "function" ? found(todayOf(call)) : found;
  const { validateOnly, marksMatches } = request;
  const rows = exportRows(bulk, table, {
    object,
    fields,
    order,
    filters,
    campaignId,
    voucherId,
    validateOnly,
    marksMatches,
    call,
  });
  for await (const csv of rows) {
    yield { $typeName: "scrip.common.v1.ExportRowsResponse", csv };
  }
}

/** The locale writes dates as ISO 8601 does. */
const todayOf = ({ now, project }: ExportRequest["call"]): string =>
  new Intl.DateTimeFormat("sv-SE", { timeZone: project.timeZone }).format(now);

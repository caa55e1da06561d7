export {
  EXPORTS,
  type ExportedObject,
  type ExportSpec,
  type FieldType,
  isExportedObject,
  metadataKey,
  specOf,
} from "./catalogue.ts";
export { csvLines, guardedSql, guardText, headerOf } from "./csv.ts";
export { type ExportRequest, exportRows } from "./export-rows.ts";
export type { ExportColumn, ExportTable, ExportTables } from "./export-table.ts";
export { streamExportRows } from "./stream-rows.ts";

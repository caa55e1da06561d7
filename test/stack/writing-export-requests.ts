import type { Json } from "./api.ts";
import type { Fixtures } from "./writing-fixtures.ts";

type Tools<Row, Effect> = {
  readonly post: (path: string, body?: Json) => Row;
  readonly rows: (
    table: string,
    condition?: string,
    count?: number,
    values?: readonly string[],
  ) => Effect;
};

/** Rows of exports; each is known by its field. */
export function exportRows<Row extends object, Effect extends object>(
  { program: { campaignId }, gift }: Fixtures,
  { post, rows }: Tools<Row, Effect>,
): Record<string, Row & Effect> {
  const one = (path: string, field: string, more: Json = {}): Row & Effect => ({
    ...post(path, { ...more, parameters: { fields: [field] } }),
    ...rows("export.export", "parameters -> 'fields' ->> 0 = $2", 1, [field]),
  });
  return {
    "ExportService.CreateExport": one("/v1/exports", "sku", { exported_object: "sku" }),
    "ExportService.CreateOrderExport": one("/v1/orders/export", "referrer_id"),
    "ExportService.CreatePointsExpirationExport": one(
      `/v1/loyalties/${campaignId}/points-expiration/export`,
      "points",
    ),
    "ExportService.CreateCampaignTransactionExport": one(
      `/v1/campaigns/${campaignId}/transactions/export`,
      "type",
    ),
    "ExportService.CreateLoyaltyTransactionExport": one(
      `/v1/loyalties/${campaignId}/transactions/export`,
      "reason",
    ),
    "ExportService.CreateVoucherTransactionExport": one(
      `/v1/vouchers/${gift}/transactions/export`,
      "amount",
    ),
  };
}

import { type Json, newCode } from "./api.ts";
import type { Fixtures } from "./writing-fixtures.ts";

type Tools<Row, Effect> = {
  readonly post: (path: string, body?: Json | readonly Json[]) => Row;
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

/** Rows of imports and bulk updates. */
export function importRows<Row extends object, Effect extends object>(
  { published, codes, customer, product }: Fixtures,
  { post, rows }: Tools<Row, Effect>,
): Record<string, Row & Partial<Effect>> {
  const tag = newCode("import");
  const code = (name: string) => rows("voucher.voucher", "code = $2", 1, [`${tag}-${name}`]);
  const metadata = { imported: tag };
  return {
    "ImportService.ImportCampaignVouchers": {
      ...post(`/v1/campaigns/${published["id"]}/import`, [{ code: `${tag}-campaign` }]),
      ...code("campaign"),
    },
    "ImportService.ImportVouchers": {
      ...post("/v1/vouchers/import", [
        { code: `${tag}-alone`, type: "GIFT_VOUCHER", gift: { amount: 100 } },
      ]),
      ...code("alone"),
    },
    "ImportService.ImportOrders": {
      ...post("/v1/orders/import", [{ source_id: `${tag} order`, amount: 100 }]),
      ...rows("validation.shop_order", "source_id = $2", 1, [`${tag} order`]),
    },
    "ImportService.BulkUpdateVouchers": post("/v1/vouchers/bulk/async", [
      { code: codes[0], metadata },
    ]),
    "ImportService.BulkUpdateVouchersMetadata": post("/v1/vouchers/metadata/async", {
      codes: [codes[1]],
      metadata,
    }),
    "ImportService.BulkUpdateCustomers": {
      ...post("/v1/customers/bulk/async", [{ source_id: `${tag} customer` }]),
      ...rows("loyalty.customer", "source_id = $2", 1, [`${tag} customer`]),
    },
    "ImportService.BulkUpdateCustomersMetadata": post("/v1/customers/metadata/async", {
      source_ids: [customer],
      metadata,
    }),
    "ImportService.BulkUpdateProducts": {
      ...post("/v1/products/bulk/async", [{ source_id: `${tag} product`, name: "Product" }]),
      ...rows("validation.product", "source_id = $2", 1, [`${tag} product`]),
    },
    "ImportService.BulkUpdateProductsMetadata": post("/v1/products/metadata/async", {
      source_ids: [product],
      metadata,
    }),
  };
}

/** Rows of webhooks. */
export function webhookRows<Row extends object, Effect extends object>(
  { webhook }: Fixtures,
  projectId: string,
  { post, put, rows }: Tools<Row, Effect> & Pick<Writers<Row>, "put">,
): Record<string, Row & Effect & { readonly by: "management" }> {
  const path = `/management/v1/projects/${projectId}/webhooks`;
  const by = { by: "management" as const };
  const one = (column: string, value: string): Effect =>
    rows("export.webhook", `${column} = $2`, 1, [value]);
  const events = ["voucher.published"];
  return {
    "WebhookService.CreateWebhook": {
      ...by,
      ...post(path, { target_url: "https://created.example/", events }),
      ...one("target_url", "https://created.example/"),
    },
    "WebhookService.UpdateWebhook": {
      ...by,
      ...put(`${path}/${webhook}`, { target_url: "https://updated.example/" }),
      ...one("target_url", "https://updated.example/"),
    },
    "WebhookService.ReplayWebhook": {
      ...by,
      ...post(`${path}/${webhook}/replay`, { since: "2026-01-01T00:00:00Z" }),
      ...one("id", webhook),
    },
  };
}

type Writers<Row> = { readonly put: (path: string, body?: Json) => Row };

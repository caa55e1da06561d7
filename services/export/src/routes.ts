import { keyedHandlers } from "@scrip/idempotency";
import { AsyncActionService } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import { AuditLogService } from "@scrip/proto/scrip/export/v1/audit_log_pb";
import { CampaignActionService } from "@scrip/proto/scrip/export/v1/campaign_actions_pb";
import { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Implementation } from "@scrip/rpc";

import { appendEntries } from "./audit-log/append-entries.ts";
import { bindToRequest, type Deps } from "./deps.ts";
import { appendImportFile } from "./handlers/append-import-file.ts";
import { bulkUpdateCustomersMetadata } from "./handlers/bulk-update-customers-metadata.ts";
import { bulkUpdateCustomers } from "./handlers/bulk-update-customers.ts";
import { bulkUpdateProductsMetadata } from "./handlers/bulk-update-products-metadata.ts";
import { bulkUpdateProducts } from "./handlers/bulk-update-products.ts";
import { bulkUpdateVouchersMetadata } from "./handlers/bulk-update-vouchers-metadata.ts";
import { bulkUpdateVouchers } from "./handlers/bulk-update-vouchers.ts";
import { createCampaignTransactionExport } from "./handlers/create-campaign-transaction-export.ts";
import { createExport } from "./handlers/create-export.ts";
import { createLoyaltyTransactionExport } from "./handlers/create-loyalty-transaction-export.ts";
import { createOrderExport } from "./handlers/create-order-export.ts";
import { createPointsExpirationExport } from "./handlers/create-points-expiration-export.ts";
import { createVoucherTransactionExport } from "./handlers/create-voucher-transaction-export.ts";
import { createWebhook } from "./handlers/create-webhook.ts";
import { deleteBinEntry } from "./handlers/delete-bin-entry.ts";
import { deleteCampaign } from "./handlers/delete-campaign.ts";
import { deleteExport } from "./handlers/delete-export.ts";
import { deleteLoyaltyProgram } from "./handlers/delete-loyalty-program.ts";
import { deleteWebhook } from "./handlers/delete-webhook.ts";
import { downloadExport } from "./handlers/download-export.ts";
import { downloadReport } from "./handlers/download-report.ts";
import { generateCampaignVouchers } from "./handlers/generate-campaign-vouchers.ts";
import { getAsyncAction } from "./handlers/get-async-action.ts";
import { getExport } from "./handlers/get-export.ts";
import { getWebhookDelivery } from "./handlers/get-webhook-delivery.ts";
import { getWebhookSecret } from "./handlers/get-webhook-secret.ts";
import { getWebhook } from "./handlers/get-webhook.ts";
import { importCampaignVouchersCsv } from "./handlers/import-campaign-vouchers-csv.ts";
import { importCampaignVouchers } from "./handlers/import-campaign-vouchers.ts";
import { importCustomersCsv } from "./handlers/import-customers-csv.ts";
import { importOrders } from "./handlers/import-orders.ts";
import { importProductsCsv } from "./handlers/import-products-csv.ts";
import { importSkusCsv } from "./handlers/import-skus-csv.ts";
import { importVouchersCsv } from "./handlers/import-vouchers-csv.ts";
import { importVouchers } from "./handlers/import-vouchers.ts";
import { listAsyncActions } from "./handlers/list-async-actions.ts";
import { listAuditLog } from "./handlers/list-audit-log.ts";
import { listExports } from "./handlers/list-exports.ts";
import { listWebhookDeliveries } from "./handlers/list-webhook-deliveries.ts";
import { listWebhooks } from "./handlers/list-webhooks.ts";
import { regenerateWebhookSecret } from "./handlers/regenerate-webhook-secret.ts";
import { replayWebhook } from "./handlers/replay-webhook.ts";
import { updateWebhook } from "./handlers/update-webhook.ts";

/** The RPCs of this service. */
export const routes = (deps: Deps): readonly Implementation[] => {
  // This service has the audit log, and no outbox.
  const implement = keyedHandlers(deps, bindToRequest, [], (tx, entry) =>
    appendEntries(tx, [entry]),
  );
  return [
    implement(AsyncActionService, { listAsyncActions, getAsyncAction }),
    implement(AuditLogService, { listAuditLog }),
    implement(ExportService, {
      createExport,
      listExports,
      getExport,
      deleteExport,
      createOrderExport,
      createPointsExpirationExport,
      createCampaignTransactionExport,
      createLoyaltyTransactionExport,
      createVoucherTransactionExport,
      downloadExport,
      downloadReport,
    }),
    implement(WebhookService, {
      createWebhook,
      listWebhooks,
      getWebhook,
      updateWebhook,
      deleteWebhook,
      getWebhookSecret,
      regenerateWebhookSecret,
      listWebhookDeliveries,
      getWebhookDelivery,
      replayWebhook,
    }),
    implement(
      CampaignActionService,
      { deleteCampaign, deleteLoyaltyProgram, generateCampaignVouchers, deleteBinEntry },
      { generateCampaignVouchers: "steps" },
    ),
    implement(
      ImportService,
      {
        importCampaignVouchers,
        importCampaignVouchersCsv,
        importVouchers,
        importVouchersCsv,
        importCustomersCsv,
        importProductsCsv,
        importSkusCsv,
        importOrders,
        bulkUpdateVouchers,
        bulkUpdateVouchersMetadata,
        bulkUpdateCustomers,
        bulkUpdateCustomersMetadata,
        bulkUpdateProducts,
        bulkUpdateProductsMetadata,
        appendImportFile,
      },
      { importCampaignVouchers: "steps", importCampaignVouchersCsv: "steps" },
    ),
  ];
};

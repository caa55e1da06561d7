import { keyedHandlers } from "@scrip/idempotency";
import { AsyncActionService } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import { CampaignActionService } from "@scrip/proto/scrip/export/v1/campaign_actions_pb";
import { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Implementation } from "@scrip/rpc";

import { bindToRequest, type Deps } from "./deps.ts";
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
import { deleteWebhook } from "./handlers/delete-webhook.ts";
import { downloadExport } from "./handlers/download-export.ts";
import { generateCampaignVouchers } from "./handlers/generate-campaign-vouchers.ts";
import { getAsyncAction } from "./handlers/get-async-action.ts";
import { getExport } from "./handlers/get-export.ts";
import { getWebhookDelivery } from "./handlers/get-webhook-delivery.ts";
import { getWebhookSecret } from "./handlers/get-webhook-secret.ts";
import { getWebhook } from "./handlers/get-webhook.ts";
import { listAsyncActions } from "./handlers/list-async-actions.ts";
import { listExports } from "./handlers/list-exports.ts";
import { listWebhookDeliveries } from "./handlers/list-webhook-deliveries.ts";
import { listWebhooks } from "./handlers/list-webhooks.ts";
import { regenerateWebhookSecret } from "./handlers/regenerate-webhook-secret.ts";
import { replayWebhook } from "./handlers/replay-webhook.ts";
import { updateWebhook } from "./handlers/update-webhook.ts";

/** The RPCs of this service. */
export const routes = (deps: Deps): readonly Implementation[] => {
  const implement = keyedHandlers(deps, bindToRequest);
  return [
    implement(AsyncActionService, { listAsyncActions, getAsyncAction }),
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
      { deleteCampaign, generateCampaignVouchers, deleteBinEntry },
      { generateCampaignVouchers: "steps" },
    ),
  ];
};

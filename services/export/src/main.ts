import { readEnv, readTogether, variable } from "@scrip/config";
import { readEventLog, withEventBus } from "@scrip/events";
import { eventRetention, readRetention, runProcess } from "@scrip/rpc";

import { openFileStore, readFileSettings } from "./files/settings.ts";
import { createExportService } from "./service.ts";
import { readWebhookSettings } from "./webhooks/webhook-settings.ts";

await runProcess({
  name: "export",
  callees: ["validation", "campaign", "voucher", "loyalty"],
  read: (env) =>
    readTogether(
      () => readRetention(env),
      () => readWebhookSettings(env),
      () =>
        readEnv(env, {
          baseUrl: { name: "SCRIP_BASE_URL", reader: variable.withDefault(variable.url, "") },
        }),
      () => readFileSettings(env),
      () => readEventLog(env),
    ),
  async create(
    [retention, webhooks, { baseUrl }, fileSettings, log],
    { database, logger, metrics, transports },
  ) {
    const files = await openFileStore(fileSettings);
    const onError = (error: Error): void => logger.error({ err: error }, "a background job failed");
    return withEventBus(
      {
        log,
        databaseUrl: database.databaseUrl,
        retention: eventRetention(retention),
        metrics,
        onError,
      },
      (bus) =>
        createExportService({
          ...database,
          retention,
          webhooks,
          metrics,
          bus,
          transports,
          files,
          baseUrl: baseUrl.replace(/\/$/, ""),
          onError,
        }),
    );
  },
});

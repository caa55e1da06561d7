import { readEnv, variable } from "@scrip/config";
import { withEventBus } from "@scrip/events";
import { eventRetention, readDatabaseConfig, readRetention, runProcess } from "@scrip/rpc";

import { readFileStore } from "./files/settings.ts";
import { createExportService } from "./service.ts";
import { readWebhookSettings } from "./webhooks/webhook-settings.ts";

await runProcess("export", async (env, { logger, metrics, transportTo }) => {
  const database = readDatabaseConfig(env);
  const retention = readRetention(env);
  const webhooks = readWebhookSettings(env);
  const files = await readFileStore(env);
  const { baseUrl } = readEnv(env, {
    baseUrl: { name: "SCRIP_BASE_URL", reader: variable.withDefault(variable.url, "") },
  });
  const onError = (error: Error): void => logger.error({ err: error }, "a background job failed");
  return withEventBus(
    { env, databaseUrl: database.databaseUrl, retention: eventRetention(retention), onError },
    (bus) =>
      createExportService({
        ...database,
        retention,
        webhooks,
        metrics,
        bus,
        transports: {
          validation: transportTo("validation"),
          campaign: transportTo("campaign"),
          voucher: transportTo("voucher"),
          loyalty: transportTo("loyalty"),
        },
        files,
        baseUrl: baseUrl.replace(/\/$/, ""),
        onError,
      }),
  );
});

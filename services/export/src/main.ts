import { withEventBus } from "@scrip/events";
import { eventRetention, readDatabaseConfig, readRetention, runProcess } from "@scrip/rpc";

import { createExportService } from "./service.ts";
import { readWebhookSettings } from "./webhooks/webhook-settings.ts";

await runProcess("export", (env, { logger, transportTo }) => {
  const database = readDatabaseConfig(env);
  const retention = readRetention(env);
  const webhooks = readWebhookSettings(env);
  const onError = (error: Error): void => logger.error({ err: error }, "a background job failed");
  return withEventBus(
    { env, databaseUrl: database.databaseUrl, retention: eventRetention(retention), onError },
    (bus) =>
      createExportService({
        ...database,
        retention,
        webhooks,
        bus,
        transports: {
          validation: transportTo("validation"),
          campaign: transportTo("campaign"),
          voucher: transportTo("voucher"),
          loyalty: transportTo("loyalty"),
        },
        onError,
      }),
  );
});

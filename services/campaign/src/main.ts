import { withEventBus } from "@scrip/events";
import { readDatabaseConfig, runProcess } from "@scrip/rpc";

import { createCampaignService } from "./service.ts";

await runProcess("campaign", (env, { logger, transportTo }) => {
  const database = readDatabaseConfig(env);
  const onError = (error: Error): void => logger.error({ err: error }, "a background job failed");
  return withEventBus({ env, databaseUrl: database.databaseUrl, onError }, (bus) =>
    createCampaignService({
      ...database,
      bus,
      transports: { voucher: transportTo("voucher") },
      onError,
    }),
  );
});

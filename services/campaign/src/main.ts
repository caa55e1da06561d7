import { withEventBus } from "@scrip/events";
import { eventRetention, readDatabaseConfig, readRetention, runProcess } from "@scrip/rpc";

import { createCampaignService } from "./service.ts";

await runProcess("campaign", (env, { logger, transportTo }) => {
  const database = readDatabaseConfig(env);
  const retention = readRetention(env);
  const onError = (error: Error): void => logger.error({ err: error }, "a background job failed");
  return withEventBus(
    { env, databaseUrl: database.databaseUrl, retention: eventRetention(retention), onError },
    (bus) =>
      createCampaignService({
        ...database,
        retention,
        bus,
        transports: { voucher: transportTo("voucher") },
        onError,
      }),
  );
});

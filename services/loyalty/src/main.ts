import { withEventBus } from "@scrip/events";
import { eventRetention, readDatabaseConfig, readRetention, runProcess } from "@scrip/rpc";

import { createLoyaltyService } from "./service.ts";

await runProcess("loyalty", (env, { logger }) => {
  const database = readDatabaseConfig(env);
  const retention = readRetention(env);
  const onError = (error: Error): void => logger.error({ err: error }, "a background job failed");
  return withEventBus(
    { env, databaseUrl: database.databaseUrl, retention: eventRetention(retention), onError },
    (bus) => createLoyaltyService({ ...database, retention, bus, onError }),
  );
});

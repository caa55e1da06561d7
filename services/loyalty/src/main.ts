import { withEventBus } from "@scrip/events";
import { readDatabaseConfig, runProcess } from "@scrip/rpc";

import { createLoyaltyService } from "./service.ts";

await runProcess("loyalty", (env, { logger }) => {
  const database = readDatabaseConfig(env);
  const onError = (error: Error): void => logger.error({ err: error }, "a background job failed");
  return withEventBus({ env, databaseUrl: database.databaseUrl, onError }, (bus) =>
    createLoyaltyService({ ...database, bus, onError }),
  );
});

import { readDatabaseConfig, runProcess } from "@scrip/rpc";

import { createLoyaltyService } from "./service.ts";

await runProcess("loyalty", (env, { logger }) =>
  createLoyaltyService({
    ...readDatabaseConfig(env),
    onError: (error) => logger.error({ err: error }, "a database connection failed"),
  }),
);

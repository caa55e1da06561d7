import { readDatabaseConfig, runProcess } from "@scrip/rpc";

import { createCampaignService } from "./service.ts";

await runProcess("campaign", (env, { logger }) =>
  createCampaignService({
    ...readDatabaseConfig(env),
    onError: (error) => logger.error({ err: error }, "a database connection failed"),
  }),
);

import { readDatabaseConfig, runProcess } from "@scrip/rpc";

import { createCampaignService } from "./service.ts";

await runProcess("campaign", (env, { logger, transportTo }) =>
  createCampaignService({
    ...readDatabaseConfig(env),
    transports: { voucher: transportTo("voucher") },
    onError: (error) => logger.error({ err: error }, "a database connection failed"),
  }),
);

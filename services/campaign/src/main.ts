import { readTogether } from "@scrip/config";
import { readEventLog, withEventBus } from "@scrip/events";
import { eventRetention, readRetention, runProcess } from "@scrip/rpc";

import { readCampaignLimits } from "./config.ts";
import { createCampaignService } from "./service.ts";

await runProcess({
  name: "campaign",
  callees: ["voucher"],
  read: (env) =>
    readTogether(
      () => readRetention(env),
      () => readCampaignLimits(env),
      () => readEventLog(env),
    ),
  create([retention, limits, log], { database, logger, metrics, transports }) {
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
        createCampaignService({
          ...database,
          ...limits,
          retention,
          metrics,
          bus,
          transports,
          onError,
        }),
    );
  },
});

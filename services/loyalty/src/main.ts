import { readTogether } from "@scrip/config";
import { readEventLog, withEventBus } from "@scrip/events";
import { eventRetention, readRetention, runProcess } from "@scrip/rpc";

import { createLoyaltyService } from "./service.ts";

await runProcess({
  name: "loyalty",
  callees: [],
  read: (env) =>
    readTogether(
      () => readRetention(env),
      () => readEventLog(env),
    ),
  create([retention, log], { database, logger, metrics }) {
    const onError = (error: Error): void => logger.error({ err: error }, "a background job failed");
    return withEventBus(
      {
        log,
        databaseUrl: database.databaseUrl,
        retention: eventRetention(retention),
        metrics,
        onError,
      },
      (bus) => createLoyaltyService({ ...database, retention, metrics, bus, onError }),
    );
  },
});

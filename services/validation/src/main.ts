import { readEnv, readTogether, variable } from "@scrip/config";
import { readEventLog, withEventBus } from "@scrip/events";
import { eventRetention, readRetention, runProcess } from "@scrip/rpc";

import { createValidationService } from "./service.ts";

await runProcess({
  name: "validation",
  callees: ["voucher", "campaign", "loyalty"],
  read: (env) =>
    readTogether(
      () => readRetention(env),
      () =>
        readEnv(env, {
          trackingSecret: { name: "SCRIP_TRACKING_SECRET", reader: variable.secret },
        }),
      () => readEventLog(env),
    ),
  create([retention, { trackingSecret }, log], { database, logger, metrics, transports }) {
    const batches = metrics.histogram({
      name: "batch_size",
      help: "Items that travelled together between services",
      labels: ["batch"],
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    });
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
        createValidationService({
          ...database,
          trackingSecret,
          retention,
          metrics,
          bus,
          transports,
          onError,
          onBatch: (batch, size) => batches.observe({ batch }, size),
        }),
    );
  },
});

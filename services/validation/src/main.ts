import { readEnv, variable } from "@scrip/config";
import { withEventBus } from "@scrip/events";
import { eventRetention, readDatabaseConfig, readRetention, runProcess } from "@scrip/rpc";

import { createValidationService } from "./service.ts";

await runProcess("validation", (env, { logger, metrics, transportTo }) => {
  const { trackingSecret } = readEnv(env, {
    trackingSecret: { name: "SCRIP_TRACKING_SECRET", reader: variable.secret },
  });
  const batches = metrics.histogram({
    name: "batch_size",
    help: "Items that travelled together between services",
    labels: ["batch"],
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
  });
  const database = readDatabaseConfig(env);
  const retention = readRetention(env);
  const onError = (error: Error): void => logger.error({ err: error }, "a background job failed");
  return withEventBus(
    { env, databaseUrl: database.databaseUrl, retention: eventRetention(retention), onError },
    (bus) =>
      createValidationService({
        ...database,
        trackingSecret,
        bus,
        transports: {
          voucher: transportTo("voucher"),
          campaign: transportTo("campaign"),
          loyalty: transportTo("loyalty"),
        },
        onError,
        onBatch: (batch, size) => batches.observe({ batch }, size),
      }),
  );
});

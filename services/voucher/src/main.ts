import { readEnv, variable } from "@scrip/config";
import { withEventBus } from "@scrip/events";
import { eventRetention, readDatabaseConfig, readRetention, runProcess } from "@scrip/rpc";

import { createVoucherService } from "./service.ts";

await runProcess("voucher", (env, { logger, transportTo }) => {
  const { assetSecret } = readEnv(env, {
    assetSecret: { name: "SCRIP_ASSET_SECRET", reader: variable.secret },
  });
  const database = readDatabaseConfig(env);
  const retention = readRetention(env);
  const onError = (error: Error): void => logger.error({ err: error }, "a background job failed");
  return withEventBus(
    { env, databaseUrl: database.databaseUrl, retention: eventRetention(retention), onError },
    (bus) =>
      createVoucherService({
        ...database,
        retention,
        assetSecret,
        bus,
        transports: { loyalty: transportTo("loyalty") },
        onError,
      }),
  );
});

import { readEnv, readTogether, variable } from "@scrip/config";
import { readEventLog, withEventBus } from "@scrip/events";
import { eventRetention, readRetention, runProcess } from "@scrip/rpc";

import { createVoucherService } from "./service.ts";

await runProcess({
  name: "voucher",
  callees: ["loyalty"],
  read: (env) =>
    readTogether(
      () => readRetention(env),
      () => readEnv(env, { assetSecret: { name: "SCRIP_ASSET_SECRET", reader: variable.secret } }),
      () => readEventLog(env),
    ),
  create([retention, { assetSecret }, log], { database, logger, metrics, transports }) {
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
        createVoucherService({
          ...database,
          retention,
          assetSecret,
          metrics,
          bus,
          transports,
          onError,
        }),
    );
  },
});

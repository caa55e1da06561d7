import { primaryCounters } from "@scrip/gateway/counters";
import { explainConnectionFailure } from "@scrip/postgres";
import { runUntilStopped } from "@scrip/rpc";
import { createLogger, createMetrics, startTracing } from "@scrip/telemetry";

import { readStandaloneConfig } from "./config.ts";
import { startServer } from "./server.ts";
import type { WorkerReady } from "./workers.ts";

// One of several processes that serve requests (workers.ts). Its primary process has prepared the data folder and the
// database, and names them in the environment.
await runUntilStopped(
  async () => {
    const config = readStandaloneConfig(process.env);
    await using parts = new AsyncDisposableStack();
    parts.use(await startTracing("scrip", config.tracing));
    const server = parts.use(
      await startServer(process.env, {
        config,
        databaseUrl: config.databaseUrl ?? "",
        folder: config.dataDir,
        logger: createLogger({ service: "scrip", level: config.logLevel }),
        metrics: createMetrics({ ofWorker: true }),
        counters: primaryCounters,
      }),
    );
    const running = parts.move();
    return { ...server, [Symbol.asyncDispose]: () => running.disposeAsync() };
  },
  {
    onReady({ port, hasBootstrapKeys }) {
      const ready: WorkerReady = { type: "ready", port, hasBootstrapKeys };
      process.send?.(ready);
    },
    explain: explainConnectionFailure,
  },
);
// The channel to the primary process would keep this one alive.
process.exit();

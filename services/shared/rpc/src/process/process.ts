import { type Env, readEnv, readTogether, variable } from "@scrip/config";
import {
  createLogger,
  createMetrics,
  type Logger,
  type Metrics,
  readMetricsConfig,
  startMetricsServer,
} from "@scrip/telemetry";

import { createAdmission } from "../admission/admission.ts";
import { readAdmissionSettings } from "../admission/settings.ts";
import { followServiceKeys, readServiceKeys } from "../auth/service-keys.ts";
import { createTokenSource, type ServiceKeys } from "../auth/service-token.ts";
import { startCodeGuessing } from "../code-guessing/reports.ts";
import { readCodeGuessingSettings } from "../code-guessing/settings.ts";
import { type CallReport, serve } from "../server/serve.ts";
import type { ReplicatingService } from "../server/service.ts";
import { createServiceTransport } from "../transport/grpc-transport.ts";
import { runUntilStopped } from "./run-until-stopped.ts";

export type ProcessTools = {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** A transport to another service, whose address is in SCRIP_<NAME>_URL. */
  readonly transportTo: (name: string) => ReturnType<typeof createServiceTransport>;
};

/**
 * Runs a service as a process: settings from the environment, gRPC until SIGTERM or SIGINT, then
 * calls in flight finish and everything closes in reverse order. All invalid settings are listed on
 * standard error.
 */
export async function runProcess(
  name: string,
  create: (env: Env, tools: ProcessTools) => Promise<ReplicatingService>,
): Promise<void> {
  await runUntilStopped(async () => {
    const { env } = process;
    const config = readProcessConfig(env);
    const logger = createLogger({ service: name, level: config.logLevel });
    const metrics = createMetrics();
    await using parts = new AsyncDisposableStack();
    const keys = parts.use(followServiceKeys(config.serviceKeys, logger));
    parts.use(await startMetricsServer(metrics, config.metrics, logger));
    const service = parts.use(
      await create(env, {
        logger,
        metrics,
        transportTo: (callee) => transportTo(env, keys, { caller: name, callee }),
      }),
    );
    const server = parts.use(
      await serve({
        host: config.host,
        port: config.port,
        services: [service],
        keys,
        admission: createAdmission(config.admission, metrics),
        codeGuessing: startCodeGuessing({ settings: config.codeGuessing, logger, metrics }),
        onCall: (report) => logCall(logger, report),
      }),
    );
    logger.info({ url: server.url }, "serving");
    return parts.move();
  });
}

const MAX_PORT = 65_535;

function readProcessConfig(env: Env) {
  const [own, metrics, serviceKeys, admission, codeGuessing] = readTogether(
    () => readOwn(env),
    () => readMetricsConfig(env),
    () => readServiceKeys(env),
    () => readAdmissionSettings(env),
    () => readCodeGuessingSettings(env),
  );
  return { ...own, metrics, serviceKeys, admission, codeGuessing };
}

function readOwn(env: Env) {
  return readEnv(env, {
    host: { name: "SCRIP_HOST", reader: variable.withDefault(variable.text, "0.0.0.0") },
    port: { name: "SCRIP_PORT", reader: variable.withDefault(variable.integer(0, MAX_PORT), 9090) },
    logLevel: { name: "SCRIP_LOG_LEVEL", reader: variable.withDefault(variable.text, "info") },
  });
}

/** gRPC to the service at SCRIP_<NAME>_URL. */
export function transportTo(
  env: Env,
  keys: ServiceKeys,
  { caller, callee }: { readonly caller: string; readonly callee: string },
): ReturnType<typeof createServiceTransport> {
  const { baseUrl } = readEnv(env, {
    baseUrl: { name: `SCRIP_${callee.toUpperCase()}_URL`, reader: variable.url },
  });
  const claims = { name: caller, internal: true, scopes: [], projects: ["*"] };
  return createServiceTransport({
    baseUrl,
    audience: callee,
    token: createTokenSource(keys, claims),
  });
}

/** The database settings of every service. */
export function readDatabaseConfig(env: Env): {
  readonly databaseUrl: string;
  readonly poolSize: number;
} {
  return readEnv(env, {
    databaseUrl: { name: "DATABASE_URL", reader: variable.url },
    poolSize: {
      name: "SCRIP_DATABASE_POOL_SIZE",
      reader: variable.withDefault(variable.integer(1, 100), 8),
    },
  });
}

function logCall(logger: Logger, { cause, ...call }: CallReport): void {
  if (cause === undefined) logger.info(call, "call");
  else logger.error({ ...call, err: cause }, "call failed");
}

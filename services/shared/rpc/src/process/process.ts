import type { Transport } from "@connectrpc/connect";
import { ConfigError, type Env, readEnv, readTogether, variable } from "@scrip/config";
import { explainConnectionFailure } from "@scrip/postgres";
import { createMessages, createRedis } from "@scrip/redis";
import {
  createLogger,
  createMetrics,
  type Logger,
  type Metrics,
  readMetricsConfig,
  readTracingConfig,
  startMetricsServer,
  startTracing,
} from "@scrip/telemetry";

import { createAdmission } from "../admission/admission.ts";
import { readAdmissionSettings } from "../admission/settings.ts";
import { followServiceKeys, readServiceKeys } from "../auth/service-keys.ts";
import { followTls, readTlsFiles } from "../auth/tls.ts";
import type { CodeGuessing, CodeGuessingSettings } from "../code-guessing/code-guessing.ts";
import { startCodeGuessing } from "../code-guessing/reports.ts";
import { readCodeGuessingSettings } from "../code-guessing/settings.ts";
import { type CallReport, serve } from "../server/serve.ts";
import type { ReplicatingService } from "../server/service.ts";
import { createCallees } from "../transport/callees.ts";
import { followClock } from "./follow-clock.ts";
import { measureCalls } from "./measure-calls.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import { shareDefinitions } from "./share-definitions.ts";

export type ProcessTools<Callee extends string> = {
  readonly database: DatabaseConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Transports to the services that it calls. */
  readonly transports: Readonly<Record<Callee, Transport>>;
};

export type ProcessDefinition<Settings, Callee extends string> = {
  /** The name of its service. */
  readonly name: string;
  /** The services that it calls, whose addresses are in SCRIP_<NAME>_URL. */
  readonly callees: readonly Callee[];
  readonly read: (env: Env) => Settings;
  readonly create: (settings: Settings, tools: ProcessTools<Callee>) => Promise<ReplicatingService>;
};

/**
 * Runs a service as a process: settings from the environment, gRPC until SIGTERM or SIGINT, then
 * calls in flight finish and everything closes in reverse order. All invalid settings are listed on
 * standard error before anything starts.
 */
export async function runProcess<Settings, Callee extends string>({
  name,
  callees,
  read,
  create,
}: ProcessDefinition<Settings, Callee>): Promise<void> {
  await runUntilStopped(
    async () => {
      const { env } = process;
      const [config, database, urls, settings] = readTogether(
        () => readProcessConfig(env),
        () => readDatabaseConfig(env),
        () => readCalleeUrls(env, callees),
        () => read(env),
      );
      await using parts = new AsyncDisposableStack();
      parts.use(await startTracing(name, config.tracing));
      const logger = createLogger({ service: name, level: config.logLevel });
      const metrics = createMetrics();
      const keys = parts.use(followServiceKeys(config.serviceKeys, logger));
      let ready: (() => Promise<boolean>) | undefined;
      const probes = {
        hasStarted: () => ready !== undefined,
        isReady: async () => ready !== undefined && (await ready()),
      };
      parts.use(await startMetricsServer(metrics, { ...config.metrics, logger, probes }));
      parts.use(await followClock(database.databaseUrl, logger));
      const tls = config.tls && parts.use(followTls(config.tls, logger));
      const connectTo = createCallees({ caller: name, keys, tls, logger, metrics });
      const transports = Object.fromEntries(
        Object.entries(urls).map(([callee, all]) => [callee, parts.use(connectTo(callee, all))]),
      ) as Readonly<Record<string, Transport>> as ProcessTools<Callee>["transports"];
      const service = parts.use(await create(settings, { database, logger, metrics, transports }));
      if (config.redisUrl !== undefined && service.definitions !== undefined)
        parts.use(await shareOver(config.redisUrl, service, logger));
      const measure = measureCalls(metrics);
      const server = parts.use(
        await serve({
          host: config.host,
          port: config.port,
          services: [service],
          keys,
          tls,
          drainMs: config.drainSeconds * 1_000,
          admission: createAdmission(config.admission, metrics),
          codeGuessing: codeGuessingOf(service, config.codeGuessing, { logger, metrics }),
          onCall: (report) => {
            measure(report);
            logCall(logger, report);
          },
        }),
      );
      ready = server.isReady;
      logger.info({ url: server.url }, "serving");
      return parts.move();
    },
    { explain: explainConnectionFailure },
  );
}

const codeGuessingOf = (
  { recordHit }: ReplicatingService,
  settings: CodeGuessingSettings,
  tools: Pick<ProcessTools<never>, "logger" | "metrics">,
): CodeGuessing => startCodeGuessing({ ...tools, settings, recordHit });

async function shareOver(
  redisUrl: string,
  service: ReplicatingService,
  logger: Logger,
): Promise<Disposable> {
  const onError = (error: unknown): void => logger.warn({ error }, "Redis failed");
  const redis = await createRedis(redisUrl, onError);
  const messages = createMessages(redis, onError);
  shareDefinitions(messages, service);
  return {
    [Symbol.dispose]() {
      messages[Symbol.dispose]();
      redis.disconnect();
    },
  };
}

const MAX_PORT = 65_535;
/** Name servers and load balancers drop a process that stops only after a while. */
const DRAIN_SECONDS = 5;
const MAX_DRAIN_SECONDS = 60;

function readProcessConfig(env: Env) {
  const [own, metrics, tracing, serviceKeys, tls, admission, codeGuessing] = readTogether(
    () => readOwn(env),
    () => readMetricsConfig(env),
    () => readTracingConfig(env),
    () => readServiceKeys(env),
    () => readTlsFiles(env),
    () => readAdmissionSettings(env),
    () => readCodeGuessingSettings(env),
  );
  return { ...own, metrics, tracing, serviceKeys, tls, admission, codeGuessing };
}

function readOwn(env: Env) {
  return readEnv(env, {
    host: { name: "SCRIP_HOST", reader: variable.withDefault(variable.text, "0.0.0.0") },
    port: { name: "SCRIP_PORT", reader: variable.withDefault(variable.integer(0, MAX_PORT), 9090) },
    drainSeconds: {
      name: "SCRIP_DRAIN_SECONDS",
      reader: variable.withDefault(variable.integer(0, MAX_DRAIN_SECONDS), DRAIN_SECONDS),
    },
    redisUrl: { name: "SCRIP_REDIS_URL", reader: variable.optional(variable.redisUrl) },
    logLevel: { name: "SCRIP_LOG_LEVEL", reader: variable.withDefault(variable.logLevel, "info") },
  });
}

/** The addresses of the replicas of each callee, by its name. */
export function readCalleeUrls(
  env: Env,
  callees: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  const isEncrypted = Boolean(env["SCRIP_TLS_CERT_FILE"]);
  const each = callees.map((callee) => () => {
    const name = `SCRIP_${callee.toUpperCase()}_URL`;
    const { urls } = readEnv(env, { urls: { name, reader: variable.urls } });
    if (urls.some((url) => url.startsWith("https:") !== isEncrypted)) {
      throw new ConfigError(
        isEncrypted
          ? `${name} must begin with https:// when SCRIP_TLS_CERT_FILE is set`
          : `${name} must begin with http:// unless SCRIP_TLS_CERT_FILE is set`,
      );
    }
    return [callee, urls] as const;
  });
  return Object.fromEntries(readTogether(...each));
}

/** The database settings of every service. */
type DatabaseConfig = {
  readonly databaseUrl: string;
  readonly poolerUrl: string | undefined;
  readonly replicaUrl: string | undefined;
  readonly poolSize: number;
};

function readDatabaseConfig(env: Env): DatabaseConfig {
  return readEnv(env, {
    databaseUrl: { name: "DATABASE_URL", reader: variable.databaseUrl },
    poolerUrl: { name: "SCRIP_POOLER_URL", reader: variable.optional(variable.databaseUrl) },
    replicaUrl: { name: "SCRIP_REPLICA_URL", reader: variable.optional(variable.databaseUrl) },
    poolSize: {
      name: "SCRIP_DATABASE_POOL_SIZE",
      reader: variable.withDefault(variable.integer(3, 100), 8),
    },
  });
}

function logCall(logger: Logger, { cause, ...call }: CallReport): void {
  if (cause === undefined) logger.info(call, "call");
  else logger.error({ ...call, err: cause }, "call failed");
}

import { type Env, readEnv, readTogether, variable } from "@scrip/config";
import { type EventLog, readEventLog } from "@scrip/events";
import {
  readCalleeUrls,
  readRetention,
  readServiceKeys,
  readTlsFiles,
  type Retention,
  type ServiceKeySources,
  type TlsFiles,
} from "@scrip/rpc";
import {
  type MetricsServerConfig,
  readMetricsConfig,
  readTracingConfig,
  type TracingConfig,
} from "@scrip/telemetry";

import { type GatewayConfig, readGatewayConfig } from "./config.ts";

/** Settings of the gateway as a process of its own. */
export type ProcessConfig = {
  readonly gateway: GatewayConfig;
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly poolerUrl: string | undefined;
  readonly replicaUrl: string | undefined;
  readonly eventLog: EventLog;
  readonly retention: Retention;
  readonly poolSize: number;
  readonly logLevel: string;
  readonly metrics: MetricsServerConfig;
  readonly tracing: TracingConfig;
  readonly serviceKeys: ServiceKeySources;
  /** gRPC URLs of the replicas of each service. */
  readonly urls: Readonly<Record<string, readonly string[]>>;
  readonly tls: TlsFiles | undefined;
};

const CALLEES = ["voucher", "campaign", "loyalty", "validation", "export"];
const DEFAULT_PORT = 8080;
/**
 * Load balancers stop sending requests only after they see /readyz fail
 * (docs/operations.md#shutdown).
 */
const DRAIN_SECONDS = 5;

export function readProcessConfig(env: Env): ProcessConfig {
  const [own, eventLog, retention, gateway, metrics, tracing, serviceKeys, tls, urls] =
    readTogether(
      () => readOwn(env),
      () => readEventLog(env),
      () => readRetention(env),
      () => readGatewayConfig(env, { drainSeconds: DRAIN_SECONDS }),
      () => readMetricsConfig(env),
      () => readTracingConfig(env),
      () => readServiceKeys(env),
      () => readTlsFiles(env),
      () => readCalleeUrls(env, CALLEES),
    );
  return { ...own, eventLog, retention, gateway, metrics, tracing, serviceKeys, tls, urls };
}

function readOwn(env: Env) {
  return readEnv(env, {
    host: { name: "SCRIP_HOST", reader: variable.withDefault(variable.text, "0.0.0.0") },
    port: {
      name: "SCRIP_PORT",
      reader: variable.withDefault(variable.integer(0, 65_535), DEFAULT_PORT),
    },
    databaseUrl: { name: "DATABASE_URL", reader: variable.databaseUrl },
    poolerUrl: { name: "SCRIP_POOLER_URL", reader: variable.optional(variable.databaseUrl) },
    replicaUrl: { name: "SCRIP_REPLICA_URL", reader: variable.optional(variable.databaseUrl) },
    poolSize: {
      name: "SCRIP_DATABASE_POOL_SIZE",
      reader: variable.withDefault(variable.integer(3, 100), 10),
    },
    logLevel: { name: "SCRIP_LOG_LEVEL", reader: variable.withDefault(variable.logLevel, "info") },
  });
}

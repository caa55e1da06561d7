import { readCampaignLimits } from "@scrip/campaign/config";
import { type Env, readEnv, readTogether, variable } from "@scrip/config";
import { readKafkaConnection } from "@scrip/events";
import { readFileSettings } from "@scrip/export/service";
import { readWebhookSettings } from "@scrip/export/webhook-settings";
import { readGatewayConfig } from "@scrip/gateway/config";
import { readRetention } from "@scrip/rpc";
import {
  type MetricsServerConfig,
  readMetricsConfig,
  readTracingConfig,
  type TracingConfig,
} from "@scrip/telemetry";

export type StandaloneConfig = {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly dataDir: string;
  /** A PostgreSQL server to use instead of the embedded one. */
  readonly databaseUrl: string | undefined;
  /** Also serves gRPC on this port. */
  readonly grpcPort: number | undefined;
  readonly logLevel: string;
  /** Processes that serve requests. Undefined: as many as the machine and the database have room for. */
  readonly workers: number | undefined;
  readonly metrics: MetricsServerConfig;
  readonly tracing: TracingConfig;
};

const MAX_PORT = 65_535;
export const MAX_WORKERS = 64;

/** Variables that the data folder provides when the environment does not. */
const FROM_DATA_FOLDER = Object.fromEntries(
  [
    "SCRIP_BOOTSTRAP_APP_ID",
    "SCRIP_BOOTSTRAP_APP_TOKEN",
    "SCRIP_BOOTSTRAP_CLIENT_APP_ID",
    "SCRIP_BOOTSTRAP_CLIENT_TOKEN",
    "SCRIP_MANAGEMENT_ID",
    "SCRIP_MANAGEMENT_TOKEN",
  ].map((name) => [name, "from the data folder"]),
);

/** Reports the mistakes in all settings together, including those that are read later. */
export function readStandaloneConfig(env: Env): StandaloneConfig {
  const [own, metrics, tracing] = readTogether(
    () => readOwn(env),
    () => readMetricsConfig(env),
    () => readTracingConfig(env),
    () => readGatewayConfig({ ...FROM_DATA_FOLDER, ...env }),
    () => readRetention(env),
    () => readWebhookSettings(env),
    () => readKafkaConnection(env),
    () => readFileSettings(env, "exports"),
    () => readCampaignLimits(env),
  );
  return { ...own, metrics, tracing };
}

function readOwn(env: Env): Omit<StandaloneConfig, "metrics" | "tracing"> {
  return readEnv(env, {
    host: { name: "SCRIP_HOST", reader: variable.withDefault(variable.text, "127.0.0.1") },
    port: {
      name: "SCRIP_PORT",
      reader: variable.withDefault(variable.integer(0, MAX_PORT), 8080),
    },
    dataDir: { name: "SCRIP_DATA_DIR", reader: variable.withDefault(variable.text, ".scrip") },
    databaseUrl: { name: "DATABASE_URL", reader: variable.optional(variable.databaseUrl) },
    grpcPort: {
      name: "SCRIP_GRPC_PORT",
      reader: variable.optional(variable.integer(1, MAX_PORT)),
    },
    logLevel: { name: "SCRIP_LOG_LEVEL", reader: variable.withDefault(variable.logLevel, "warn") },
    workers: {
      name: "SCRIP_WORKERS",
      reader: variable.optional(variable.integer(1, MAX_WORKERS)),
    },
  });
}

/** The name of this machine in URLs that people open. */
export const displayedHost = (host: string): string =>
  ["127.0.0.1", "0.0.0.0", "::", "::1"].includes(host) ? "localhost" : host;

import { type Env, readEnv, readTogether, variable } from "@scrip/config";
import { type KafkaConnection, readKafkaConnection } from "@scrip/events";
import { readServiceKeys, type ServiceKeySources } from "@scrip/rpc";
import { type MetricsServerConfig, readMetricsConfig } from "@scrip/telemetry";

import { type GatewayConfig, readGatewayConfig } from "./config.ts";

/** Settings of the gateway as a process of its own. */
export type ProcessConfig = {
  readonly gateway: GatewayConfig;
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  /** Holds the events of all services; by default the database above. */
  readonly eventsDatabaseUrl: string | undefined;
  /** Holds the events instead of the database. */
  readonly kafka: KafkaConnection | undefined;
  readonly poolSize: number;
  readonly logLevel: string;
  readonly metrics: MetricsServerConfig;
  readonly serviceKeys: ServiceKeySources;
  /** gRPC URLs of the services. */
  readonly urls: Readonly<
    Record<"voucher" | "campaign" | "loyalty" | "validation" | "export", string>
  >;
};

const DEFAULT_PORT = 8080;
/**
 * Load balancers stop sending requests only after they see /readyz fail
 * (docs/operations.md#shutdown).
 */
const DRAIN_SECONDS = 5;

export function readProcessConfig(env: Env): ProcessConfig {
  const [own, kafka, gateway, metrics, serviceKeys] = readTogether(
    () => readOwn(env),
    () => readKafkaConnection(env),
    () => readGatewayConfig(env, { drainSeconds: DRAIN_SECONDS }),
    () => readMetricsConfig(env),
    () => readServiceKeys(env),
  );
  const { voucher, campaign, loyalty, validation, export: bulk } = own;
  return {
    ...own,
    kafka,
    gateway,
    metrics,
    serviceKeys,
    urls: { voucher, campaign, loyalty, validation, export: bulk },
  };
}

function readOwn(env: Env) {
  return readEnv(env, {
    host: { name: "SCRIP_HOST", reader: variable.withDefault(variable.text, "0.0.0.0") },
    port: {
      name: "SCRIP_PORT",
      reader: variable.withDefault(variable.integer(0, 65_535), DEFAULT_PORT),
    },
    databaseUrl: { name: "DATABASE_URL", reader: variable.url },
    eventsDatabaseUrl: {
      name: "SCRIP_EVENTS_DATABASE_URL",
      reader: variable.optional(variable.url),
    },
    poolSize: {
      name: "SCRIP_DATABASE_POOL_SIZE",
      reader: variable.withDefault(variable.integer(1, 100), 10),
    },
    logLevel: { name: "SCRIP_LOG_LEVEL", reader: variable.withDefault(variable.text, "info") },
    voucher: { name: "SCRIP_VOUCHER_URL", reader: variable.url },
    campaign: { name: "SCRIP_CAMPAIGN_URL", reader: variable.url },
    loyalty: { name: "SCRIP_LOYALTY_URL", reader: variable.url },
    validation: { name: "SCRIP_VALIDATION_URL", reader: variable.url },
    export: { name: "SCRIP_EXPORT_URL", reader: variable.url },
  });
}

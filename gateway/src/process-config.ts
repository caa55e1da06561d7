import { type Env, readEnv, variable } from "@scrip/config";
import type { ServiceKeys } from "@scrip/rpc";
import { type MetricsServerConfig, readMetricsConfig } from "@scrip/telemetry";

import { type GatewayConfig, readGatewayConfig } from "./config.ts";

/** Settings of the gateway as a process of its own. */
export type ProcessConfig = {
  readonly gateway: GatewayConfig;
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly logLevel: string;
  readonly metrics: MetricsServerConfig;
  readonly serviceKeys: ServiceKeys;
  /** gRPC URLs of the services. */
  readonly urls: Readonly<Record<"voucher" | "campaign" | "loyalty" | "validation", string>>;
};

const DEFAULT_PORT = 8080;
/**
 * Load balancers stop sending requests only after they see /readyz fail
 * (docs/operations.md#shutdown).
 */
const DRAIN_SECONDS = 5;

export function readProcessConfig(env: Env): ProcessConfig {
  const gateway = readGatewayConfig(env, { drainSeconds: DRAIN_SECONDS });
  const read = readEnv(env, {
    host: { name: "SCRIP_HOST", reader: variable.withDefault(variable.text, "0.0.0.0") },
    port: {
      name: "SCRIP_PORT",
      reader: variable.withDefault(variable.integer(0, 65_535), DEFAULT_PORT),
    },
    databaseUrl: { name: "DATABASE_URL", reader: variable.url },
    poolSize: {
      name: "SCRIP_DATABASE_POOL_SIZE",
      reader: variable.withDefault(variable.integer(1, 100), 10),
    },
    logLevel: { name: "SCRIP_LOG_LEVEL", reader: variable.withDefault(variable.text, "info") },
    signing: {
      name: "SCRIP_SERVICE_KEY",
      reader: variable.json<ServiceKeys["signing"]>("a private Ed25519 key as JWK"),
    },
    trusted: {
      name: "SCRIP_SERVICE_JWKS",
      reader: variable.json<ServiceKeys["trusted"]>("public Ed25519 keys as JWK set"),
    },
    voucher: { name: "SCRIP_VOUCHER_URL", reader: variable.url },
    campaign: { name: "SCRIP_CAMPAIGN_URL", reader: variable.url },
    loyalty: { name: "SCRIP_LOYALTY_URL", reader: variable.url },
    validation: { name: "SCRIP_VALIDATION_URL", reader: variable.url },
  });
  const { signing, trusted, voucher, campaign, loyalty, validation } = read;
  return {
    ...read,
    gateway,
    metrics: readMetricsConfig(env),
    serviceKeys: { signing, trusted },
    urls: { voucher, campaign, loyalty, validation },
  };
}

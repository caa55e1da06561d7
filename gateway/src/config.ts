import { ConfigError, type Env, readEnv, type Reader, readTogether, variable } from "@scrip/config";
import {
  type AdmissionSettings,
  readAdmissionSettings,
  readCodeGuessingSettings,
} from "@scrip/rpc";

import type { ManagementCredentials } from "./auth/authenticate.ts";
import type { BootstrapKeys } from "./bootstrap.ts";
import { canonicalDomain } from "./domain/origin.ts";
import { isProjectTimeZone } from "./domain/project.ts";
import type { RateLimitSettings } from "./limits/rate-limits.ts";

/** Settings of the HTTP edge. */
export type HttpConfig = {
  readonly admission: AdmissionSettings;
  readonly limits: RateLimitSettings;
  readonly maxBodyBytes: number;
  /** Maximum size of a CSV file, which is stored while it arrives. */
  readonly maxUploadBytes: number;
  readonly trustedProxies: number;
  readonly redisUrl: string | undefined;
  readonly management: ManagementCredentials;
  /** Server URL in the OpenAPI document; relative without it. */
  readonly baseUrl: string | undefined;
  /** Seconds to keep serving after SIGTERM, until load balancers have removed this process. */
  readonly drainSeconds: number;
};

export type GatewayConfig = {
  readonly http: HttpConfig;
  readonly tokenSeconds: number;
  readonly bootstrap: BootstrapKeys | undefined;
};

const DEFAULT_BODY_BYTES = 256 * 1024;
/** Bodies are held in memory, so this bounds the memory per request. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
const DEFAULT_UPLOAD_BYTES = 2 ** 31;
const MAX_UPLOAD_BYTES = 2 ** 40;
const MAX_DRAIN_SECONDS = 60;
const DAY_SECONDS = 24 * 3_600;
const MAX_LIMIT = 1_000_000_000;

const limit = (value: number): Reader<number> =>
  variable.withDefault(variable.integer(0, MAX_LIMIT), value);
const maybe = variable.optional;

export function readGatewayConfig(
  env: Env,
  defaults: Pick<HttpConfig, "drainSeconds"> = { drainSeconds: 0 },
): GatewayConfig {
  const [read, codeGuessing, admission, bootstrap] = readTogether(
    () => readOwn(env, defaults),
    () => readCodeGuessingSettings(env),
    () => readAdmissionSettings(env),
    () => readBootstrap(env),
  );
  return {
    http: {
      admission,
      limits: { ...read, ...codeGuessing },
      maxBodyBytes: read.maxBodyBytes,
      maxUploadBytes: read.maxUploadBytes,
      trustedProxies: read.trustedProxies,
      redisUrl: read.redisUrl,
      baseUrl: read.baseUrl,
      drainSeconds: read.drainSeconds,
      management: { id: read.managementId, token: read.managementToken },
    },
    tokenSeconds: read.tokenSeconds,
    bootstrap,
  };
}

function readOwn(env: Env, defaults: Pick<HttpConfig, "drainSeconds">) {
  return readEnv(env, {
    callsPerMinute: { name: "SCRIP_LIMIT_CALLS_PER_MINUTE", reader: limit(2_000) },
    bulkPerHour: { name: "SCRIP_LIMIT_BULK_PER_HOUR", reader: limit(500) },
    clientPer5Seconds: { name: "SCRIP_LIMIT_CLIENT_PER_5_SECONDS", reader: limit(5) },
    failuresPerMinute: { name: "SCRIP_LIMIT_FAILED_LOGINS_PER_MINUTE", reader: limit(300) },
    maxBodyBytes: {
      name: "SCRIP_MAX_BODY_BYTES",
      reader: variable.withDefault(variable.integer(1_024, MAX_BODY_BYTES), DEFAULT_BODY_BYTES),
    },
    maxUploadBytes: {
      name: "SCRIP_MAX_UPLOAD_BYTES",
      reader: variable.withDefault(variable.integer(1_024, MAX_UPLOAD_BYTES), DEFAULT_UPLOAD_BYTES),
    },
    trustedProxies: {
      name: "SCRIP_TRUSTED_PROXIES",
      reader: variable.withDefault(variable.integer(0, 10), 0),
    },
    redisUrl: { name: "SCRIP_REDIS_URL", reader: maybe(variable.redisUrl) },
    baseUrl: { name: "SCRIP_BASE_URL", reader: maybe(variable.url) },
    drainSeconds: {
      name: "SCRIP_DRAIN_SECONDS",
      reader: variable.withDefault(variable.integer(0, MAX_DRAIN_SECONDS), defaults.drainSeconds),
    },
    tokenSeconds: {
      name: "SCRIP_TOKEN_SECONDS",
      reader: variable.withDefault(variable.integer(1, DAY_SECONDS), 900),
    },
    managementId: { name: "SCRIP_MANAGEMENT_ID", reader: variable.text },
    managementToken: { name: "SCRIP_MANAGEMENT_TOKEN", reader: variable.strongSecret },
  });
}

const KEY_VARIABLES = [
  "SCRIP_BOOTSTRAP_APP_ID",
  "SCRIP_BOOTSTRAP_APP_TOKEN",
  "SCRIP_BOOTSTRAP_CLIENT_APP_ID",
  "SCRIP_BOOTSTRAP_CLIENT_TOKEN",
];

/** The first project; undefined without any of the keys, which must be set together. */
export function readBootstrap(env: Env): BootstrapKeys | undefined {
  if (KEY_VARIABLES.every((name) => !env[name])) return undefined;
  const read = readEnv(env, {
    appId: { name: "SCRIP_BOOTSTRAP_APP_ID", reader: variable.text },
    appToken: { name: "SCRIP_BOOTSTRAP_APP_TOKEN", reader: variable.secret },
    clientAppId: { name: "SCRIP_BOOTSTRAP_CLIENT_APP_ID", reader: variable.text },
    clientToken: { name: "SCRIP_BOOTSTRAP_CLIENT_TOKEN", reader: variable.secret },
    projectName: {
      name: "SCRIP_BOOTSTRAP_PROJECT_NAME",
      reader: variable.withDefault(variable.text, "Default project"),
    },
    timeZone: {
      name: "SCRIP_BOOTSTRAP_TIME_ZONE",
      reader: variable.withDefault(variable.text, "UTC"),
    },
    trustedDomains: {
      name: "SCRIP_BOOTSTRAP_TRUSTED_DOMAINS",
      reader: variable.withDefault(variable.list, []),
    },
    sandbox: {
      name: "SCRIP_BOOTSTRAP_SANDBOX",
      reader: variable.withDefault(variable.boolean, false),
    },
  });
  if (!isProjectTimeZone(read.timeZone)) {
    throw new ConfigError("SCRIP_BOOTSTRAP_TIME_ZONE must be an IANA time zone or a GMT offset");
  }
  if (read.trustedDomains.some((domain) => canonicalDomain(domain) === undefined)) {
    throw new ConfigError("SCRIP_BOOTSTRAP_TRUSTED_DOMAINS must list *, hosts or origins");
  }
  return read;
}

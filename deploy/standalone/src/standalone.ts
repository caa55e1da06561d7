import { once } from "node:events";
import { createServer } from "node:net";
import path from "node:path";

import { readCampaignLimits } from "@scrip/campaign/config";
import { ConfigError, type Env } from "@scrip/config";
import { makeFolder, startEmbeddedPostgres } from "@scrip/embedded-postgres";
import { readKafkaConnection } from "@scrip/events";
import { readFileStore } from "@scrip/export/service";
import { readWebhookSettings } from "@scrip/export/webhook-settings";
import { generateBootstrap } from "@scrip/gateway/bootstrap";
import { readGatewayConfig } from "@scrip/gateway/config";
import type { Gateway } from "@scrip/gateway/server";
import { readRetention } from "@scrip/rpc";
import {
  createLogger,
  createMetrics,
  type Logger,
  type MetricsServer,
  serveMetrics,
} from "@scrip/telemetry";

import { startScrip } from "./compose.ts";
import { readStandaloneConfig, type StandaloneConfig } from "./config.ts";
import { readKeys, readSecrets, type Secrets, writeKeys } from "./data-folder.ts";

export type Standalone = Gateway & {
  readonly metrics: Pick<MetricsServer, "url" | "movedFromDefault">;
  /** Environment variables that the README's examples use. */
  readonly variables: Readonly<Record<string, string>>;
  readonly keysFile: string;
  /**
   * Whether this start created the keys, a previous start did, or they are unknown because another
   * installation created the first project of the database.
   */
  readonly keys: "created" | "existing" | "unknown";
};

export type StartOptions = {
  readonly progress: (text: string) => void;
  /** Cancels the start, which then fails. */
  readonly stop: AbortSignal;
};

/** Starts everything on this machine: data folder, database, services and gateway. */
export async function startStandalone(
  env: Env,
  { progress, stop }: StartOptions,
): Promise<Standalone> {
  const config = readStandaloneConfig(env);
  await checkPort(config);
  const folder = await makeFolder(config.dataDir);

  const logger = createLogger({ service: "scrip", level: config.logLevel });
  await using parts = new AsyncDisposableStack();
  const metrics = createMetrics();
  const metricsServer = parts.use(await serveMetrics(metrics, config.metrics));
  const databaseUrl =
    config.databaseUrl ?? (await startDatabase(parts, { folder, progress, stop, logger }));
  const secrets = await readSecrets(folder);
  const keys = await bootstrapKeys(folder, secrets);
  stop.throwIfAborted();
  progress("Starting the services …");
  const scrip = parts.use(
    await startScrip({
      host: config.host,
      port: config.port,
      grpcPort: config.grpcPort,
      databaseUrl,
      secrets,
      retention: readRetention(env),
      kafka: readKafkaConnection(env),
      webhooks: readWebhookSettings(env),
      files: await readFileStore(env, path.join(folder, "exports")),
      baseUrl:
        env["SCRIP_BASE_URL"]?.replace(/\/$/, "") ??
        `http://${displayedHost(config.host)}:${config.port}`,
      limits: readCampaignLimits(env),
      gateway: readGatewayConfig({ ...bootstrapEnv(keys.variables), ...env }),
      logger,
      metrics,
    }),
  );
  const variables = {
    SCRIP_BASE_URL: `http://${displayedHost(config.host)}:${scrip.port}`,
    // Existing keys stay in the file even if they are unknown: they may belong to another database.
    ...(keys.created && !scrip.hasBootstrapKeys ? managementOf(secrets) : keys.variables),
  };
  const keysFile = await writeKeys(folder, variables);
  const running = parts.move();
  return {
    url: variables.SCRIP_BASE_URL,
    port: scrip.port,
    metrics: metricsServer,
    variables,
    keysFile,
    keys: scrip.hasBootstrapKeys ? (keys.created ? "created" : "existing") : "unknown",
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function startDatabase(
  parts: AsyncDisposableStack,
  options: StartOptions & { readonly folder: string; readonly logger: Logger },
): Promise<string> {
  options.progress("Starting PostgreSQL …");
  const database = parts.use(
    await startEmbeddedPostgres({
      dataDir: options.folder,
      stop: options.stop,
      log: options.progress,
      warn: (message) => options.logger.warn({}, message),
    }),
  );
  return database.url;
}

/** Reports a used port before anything else is started. */
async function checkPort({ host, port }: StandaloneConfig): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason =
      code === "EADDRINUSE" ? "is in use by another program" : `cannot be used (${code})`;
    throw new ConfigError(
      `Port ${port} on ${host} ${reason}. Set SCRIP_PORT to another port, for example: SCRIP_PORT=${port + 1} npm start`,
      { cause },
    );
  }
  server.close();
  await once(server, "close");
}

/** The keys of the first project: those of the first start, or newly generated ones. */
async function bootstrapKeys(
  folder: string,
  secrets: Secrets,
): Promise<{ readonly variables: Record<string, string>; readonly created: boolean }> {
  const { SCRIP_BASE_URL: _url, ...existing } = await readKeys(folder);
  if (existing["SCRIP_APP_TOKEN"] !== undefined) return { variables: existing, created: false };
  const generated = generateBootstrap();
  const variables = {
    SCRIP_APP_ID: generated.appId,
    SCRIP_APP_TOKEN: generated.appToken,
    SCRIP_CLIENT_APP_ID: generated.clientAppId,
    SCRIP_CLIENT_TOKEN: generated.clientToken,
    ...managementOf(secrets),
  };
  // Stored before they are used: a crash must not leave a project whose keys are lost.
  await writeKeys(folder, variables);
  return { variables, created: true };
}

const managementOf = (secrets: Secrets): Record<string, string> => ({
  SCRIP_MANAGEMENT_ID: secrets.managementId,
  SCRIP_MANAGEMENT_TOKEN: secrets.managementToken,
});

function bootstrapEnv(keys: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return {
    SCRIP_BOOTSTRAP_APP_ID: keys["SCRIP_APP_ID"],
    SCRIP_BOOTSTRAP_APP_TOKEN: keys["SCRIP_APP_TOKEN"],
    SCRIP_BOOTSTRAP_CLIENT_APP_ID: keys["SCRIP_CLIENT_APP_ID"],
    SCRIP_BOOTSTRAP_CLIENT_TOKEN: keys["SCRIP_CLIENT_TOKEN"],
    SCRIP_BOOTSTRAP_TRUSTED_DOMAINS: "*",
    SCRIP_MANAGEMENT_ID: keys["SCRIP_MANAGEMENT_ID"],
    SCRIP_MANAGEMENT_TOKEN: keys["SCRIP_MANAGEMENT_TOKEN"],
  };
}

const displayedHost = (host: string): string =>
  ["127.0.0.1", "0.0.0.0", "::", "::1"].includes(host) ? "localhost" : host;

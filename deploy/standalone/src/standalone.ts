import { once } from "node:events";
import { createServer } from "node:net";

import { ConfigError, type Env } from "@scrip/config";
import { makeFolder, startEmbeddedPostgres } from "@scrip/embedded-postgres";
import { generateBootstrap } from "@scrip/gateway/bootstrap";
import { readGatewayConfig } from "@scrip/gateway/config";
import type { Gateway } from "@scrip/gateway/server";
import { createLogger, createMetrics, type Logger } from "@scrip/telemetry";

import { startScrip } from "./compose.ts";
import { readStandaloneConfig, type StandaloneConfig } from "./config.ts";
import { readKeys, readSecrets, type Secrets, writeKeys } from "./data-folder.ts";

export type Standalone = Gateway & {
  /** What the README's examples source. */
  readonly variables: Readonly<Record<string, string>>;
  readonly keysFile: string;
  /**
   * Made by this start; kept from the first one; or unknown here, because another installation made
   * the first project of the database.
   */
  readonly keys: "made" | "kept" | "unknown";
};

export type StartOptions = {
  readonly progress: (text: string) => void;
  /** Ends the start before it is done; it then fails. */
  readonly stop: AbortSignal;
};

/** Everything on this machine: data folder, database, services, door. */
export async function startStandalone(
  env: Env,
  { progress, stop }: StartOptions,
): Promise<Standalone> {
  const config = readStandaloneConfig(env);
  await checkPort(config);
  const folder = await makeFolder(config.dataDir);

  const logger = createLogger({ service: "scrip", level: config.logLevel });
  await using parts = new AsyncDisposableStack();
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
      gateway: readGatewayConfig({ ...bootstrapEnv(keys.variables), ...env }),
      logger,
      metrics: createMetrics(),
    }),
  );
  const variables = {
    SCRIP_BASE_URL: `http://${shownHost(config.host)}:${scrip.port}`,
    // Kept ones stay also when they are unknown: they may be those of another database.
    ...(keys.made && !scrip.hasBootstrapKeys ? managementOf(secrets) : keys.variables),
  };
  const keysFile = await writeKeys(folder, variables);
  const running = parts.move();
  return {
    url: variables.SCRIP_BASE_URL,
    port: scrip.port,
    variables,
    keysFile,
    keys: scrip.hasBootstrapKeys ? (keys.made ? "made" : "kept") : "unknown",
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
      warn: (message) => options.logger.warn({}, message),
    }),
  );
  return database.url;
}

/** A taken port is told at once, before anything was started for nothing. */
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
      `Port ${port} on ${host} ${reason}. Set SCRIP_PORT to another one, for example: SCRIP_PORT=${port + 1} npm start`,
      { cause },
    );
  }
  server.close();
  await once(server, "close");
}

/** The keys of the first project: those of the first start, or new ones. */
async function bootstrapKeys(
  folder: string,
  secrets: Secrets,
): Promise<{ readonly variables: Record<string, string>; readonly made: boolean }> {
  const { SCRIP_BASE_URL: _url, ...kept } = await readKeys(folder);
  if (kept["SCRIP_APP_TOKEN"] !== undefined) return { variables: kept, made: false };
  const made = generateBootstrap();
  const variables = {
    SCRIP_APP_ID: made.appId,
    SCRIP_APP_TOKEN: made.appToken,
    SCRIP_CLIENT_APP_ID: made.clientAppId,
    SCRIP_CLIENT_TOKEN: made.clientToken,
    ...managementOf(secrets),
  };
  // Kept before they are used: a crash in between must not leave a project whose keys nobody knows.
  await writeKeys(folder, variables);
  return { variables, made: true };
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

const shownHost = (host: string): string =>
  ["127.0.0.1", "0.0.0.0", "::", "::1"].includes(host) ? "localhost" : host;

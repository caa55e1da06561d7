import { once } from "node:events";
import { createServer } from "node:net";

import { ConfigError, type Env } from "@scrip/config";
import { makeFolder, startEmbeddedPostgres } from "@scrip/embedded-postgres";
import { generateBootstrap } from "@scrip/gateway/bootstrap";
import type { Gateway } from "@scrip/gateway/server";
import {
  createLogger,
  createMetrics,
  type Logger,
  mergeMetrics,
  type MetricsServer,
  type MetricsText,
  serveMetrics,
  startTracing,
} from "@scrip/telemetry";

import type { Composition } from "./compose.ts";
import { displayedHost, readStandaloneConfig, type StandaloneConfig } from "./config.ts";
import { readKeys, readSecrets, type Secrets, writeKeys } from "./data-folder.ts";
import type { ServerOptions } from "./server.ts";
import { countWorkers } from "./worker-count.ts";
import { startWorkers } from "./workers.ts";

export type Standalone = Gateway & {
  /** Undefined unless gRPC is served as well. */
  readonly grpcUrl: string | undefined;
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

  await using parts = new AsyncDisposableStack();
  parts.use(await startTracing("scrip", config.tracing));
  const logger = createLogger({ service: "scrip", level: config.logLevel });
  const metrics = createMetrics();
  let servedMetrics: MetricsText = metrics;
  const { contentType } = metrics;
  const metricsServer = parts.use(
    await serveMetrics({ contentType, text: () => servedMetrics.text() }, config.metrics),
  );
  const databaseUrl =
    config.databaseUrl ?? (await startDatabase(parts, { folder, progress, stop, logger }));
  const workers = await countWorkers(config.workers, databaseUrl);
  if (workers > 1) servedMetrics = mergeMetrics();
  const secrets = await readSecrets(folder);
  const keys = await bootstrapKeys(folder, secrets);
  stop.throwIfAborted();
  progress("Starting the services …");
  const scrip = parts.use(
    workers > 1
      ? await startWorkers(
          { ...env, DATABASE_URL: databaseUrl, SCRIP_DATA_DIR: folder },
          { count: workers, logger, stop },
        )
      : await startInProcess(env, { config, databaseUrl, folder, logger, metrics }),
  );
  const host = displayedHost(config.host);
  const variables = {
    SCRIP_BASE_URL: `http://${host}:${scrip.port}`,
    // Existing keys stay in the file even if they are unknown: they may belong to another database.
    ...(keys.created && !scrip.hasBootstrapKeys ? managementOf(secrets) : keys.variables),
  };
  const keysFile = await writeKeys(folder, variables);
  const running = parts.move();
  return {
    url: variables.SCRIP_BASE_URL,
    grpcUrl: config.grpcPort === undefined ? undefined : `http://${host}:${config.grpcPort}`,
    port: scrip.port,
    metrics: metricsServer,
    variables,
    keysFile,
    keys: scrip.hasBootstrapKeys ? (keys.created ? "created" : "existing") : "unknown",
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The services are loaded here only, because the primary process of workers does not need them. */
async function startInProcess(env: Env, options: ServerOptions): Promise<Composition> {
  const { startServer } = await import("./server.ts");
  return startServer(env, options);
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

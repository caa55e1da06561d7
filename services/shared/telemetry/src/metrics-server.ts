import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";

import { ConfigError, type Env, readEnv, variable } from "@scrip/config";

import type { Logger } from "./logger.ts";
import type { MetricsText } from "./metrics.ts";

export type MetricsServerConfig = {
  readonly host: string;
  /** Undefined: the default port, or a free one when that is in use. 0 selects a free port. */
  readonly port: number | undefined;
};

/** As of Prometheus exporters of OpenTelemetry. */
const DEFAULT_METRICS_PORT = 9464;

const MAX_PORT = 65_535;
/** A scraper and somebody who looks; more would only hold memory. */
const MAX_CONNECTIONS = 32;

export function readMetricsConfig(env: Env): MetricsServerConfig {
  return readEnv(env, {
    host: { name: "SCRIP_METRICS_HOST", reader: variable.withDefault(variable.text, "127.0.0.1") },
    port: {
      name: "SCRIP_METRICS_PORT",
      reader: variable.optional(variable.integer(0, MAX_PORT)),
    },
  });
}

export type MetricsServer = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  /** Whether the default port was in use, so that a free one was selected. */
  readonly movedFromDefault: boolean;
};

/** What orchestrators ask a process that serves no other HTTP. */
export type Probes = {
  /** Whether the process has started, migrations of its database included. */
  readonly hasStarted: () => boolean;
  /** Whether it can work. */
  readonly isReady: () => Promise<boolean>;
};

/**
 * Serves `/metrics` on a port of its own, so that a proxy which exposes the API does not expose it.
 * A configured port that cannot be used is a ConfigError. The default port is not worth a failed
 * start: when another process on this machine uses it, a free one is selected.
 * With `probes`, also `/livez`, `/readyz` and `/startupz`.
 */
export async function serveMetrics(
  metrics: MetricsText,
  { host, port }: MetricsServerConfig,
  probes?: Probes,
): Promise<MetricsServer> {
  const server = createServer(
    { headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 75_000 },
    (request, response) => {
      const read = isRead(request) ? pageAt(pathOf(request), metrics, probes) : undefined;
      if (read === undefined) {
        response.writeHead(404).end();
        return;
      }
      read.then(
        ({ status, type, text }) => response.writeHead(status, { "content-type": type }).end(text),
        () => response.writeHead(500).end(),
      );
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  const movedFromDefault = await listen(server, host, port);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${name}:${address.port}/metrics`,
    port: address.port,
    movedFromDefault,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

type Page = { readonly status: number; readonly type: string; readonly text: string };

const isRead = ({ method }: IncomingMessage): boolean => method === "GET" || method === "HEAD";

const pathOf = ({ url = "" }: IncomingMessage): string | undefined => url.split("?", 1)[0];

/** Undefined: the path has no page. */
function pageAt(
  path: string | undefined,
  metrics: MetricsText,
  probes: Probes | undefined,
): Promise<Page> | undefined {
  if (path === "/metrics") return metricsOf(metrics);
  if (probes === undefined) return undefined;
  switch (path) {
    case "/livez":
      return Promise.resolve(pageOf(true, "alive"));
    case "/startupz":
      return Promise.resolve(pageOf(probes.hasStarted(), "started"));
    case "/readyz":
      return probes.isReady().then((isReady) => pageOf(isReady, "ready"));
    default:
      return undefined;
  }
}

const metricsOf = async (metrics: MetricsText): Promise<Page> => ({
  status: 200,
  type: metrics.contentType,
  text: await metrics.text(),
});

const pageOf = (holds: boolean, state: string): Page => ({
  status: holds ? 200 : 503,
  type: "application/json; charset=utf-8",
  text: JSON.stringify({ status: holds ? state : `not ${state}` }),
});

/** `serveMetrics` of a process that logs its address. */
export async function startMetricsServer(
  metrics: MetricsText,
  {
    logger,
    probes,
    ...config
  }: MetricsServerConfig & {
    readonly logger: Pick<Logger, "info" | "warn">;
    readonly probes?: Probes;
  },
): Promise<MetricsServer> {
  const server = await serveMetrics(metrics, config, probes);
  if (server.movedFromDefault) logger.warn({ url: server.url }, MOVED);
  else logger.info({ url: server.url }, "serving metrics");
  return server;
}

const MOVED = `port ${DEFAULT_METRICS_PORT} is in use, so metrics are served elsewhere; set SCRIP_METRICS_PORT`;

/** Returns whether the default port was in use. */
async function listen(server: Server, host: string, port: number | undefined): Promise<boolean> {
  try {
    await listenOn(server, host, port ?? DEFAULT_METRICS_PORT);
    return false;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const isInUse = code === "EADDRINUSE";
    if (port === undefined && isInUse) {
      await listenOn(server, host, 0);
      return true;
    }
    const reason = isInUse ? "is in use by another program" : `cannot be used (${code})`;
    throw new ConfigError(
      `Port ${port ?? DEFAULT_METRICS_PORT} on ${host} for metrics ${reason}. Set SCRIP_METRICS_PORT and SCRIP_METRICS_HOST to others.`,
      { cause },
    );
  }
}

async function listenOn(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  await once(server, "listening");
}

import type { Transport } from "@connectrpc/connect";
import { createEventBus } from "@scrip/events";
import {
  checkHealth,
  createCallees,
  eventRetention,
  followClock,
  followServiceKeys,
  followTls,
} from "@scrip/rpc";
import { createLogger, createMetrics, startMetricsServer, startTracing } from "@scrip/telemetry";

import type { ProcessConfig } from "./process-config.ts";
import { ownServices, publicServices } from "./public-services.ts";
import { type Gateway, startGateway } from "./server.ts";
import { createGatewayService } from "./service.ts";

/**
 * The gateway publishes rarely, and its only consumer follows the permanent deletions of customers. The bus holds a
 * connection for a statement or for the statements of one transaction, never while it waits for another; handlers use
 * the gateway's own pool.
 */
const BUS_POOL_SIZE = 1;
const BUS_CLOSE_MS = 2_000;

/** Runs the gateway as a process that calls the services over gRPC. */
export async function startProcess(config: ProcessConfig): Promise<Gateway> {
  await using parts = new AsyncDisposableStack();
  parts.use(await startTracing("gateway", config.tracing));
  const logger = createLogger({ service: "gateway", level: config.logLevel });
  const metrics = createMetrics();
  parts.use(await startMetricsServer(metrics, { ...config.metrics, logger }));
  parts.use(await followClock(config.databaseUrl, logger));
  const bus = await createEventBus({
    kafka: config.eventLog.kafka,
    url: config.eventLog.databaseUrl ?? config.databaseUrl,
    poolSize: BUS_POOL_SIZE,
    retention: eventRetention(config.retention),
    metrics,
    onError: (error) => logger.error({ error }, "the event bus failed"),
  });
  parts.defer(() => bus.close(BUS_CLOSE_MS));
  const service = parts.use(
    await createGatewayService({
      databaseUrl: config.databaseUrl,
      poolerUrl: config.poolerUrl,
      replicaUrl: config.replicaUrl,
      poolSize: config.poolSize,
      tokenSeconds: config.gateway.tokenSeconds,
      bootstrap: config.gateway.bootstrap,
      bus,
      retention: config.retention,
      logger,
      metrics,
    }),
  );
  parts.defer(() => bus.closeSubscriptions(BUS_CLOSE_MS));
  const keys = parts.use(followServiceKeys(config.serviceKeys, logger));
  const tls = config.tls && parts.use(followTls(config.tls, logger));
  const connectTo = createCallees({ caller: "gateway", keys, tls, logger, metrics });
  /** A transport to each service, by its name. */
  const byOwner = new Map(
    Object.entries(config.urls).map(([name, urls]) => [name, parts.use(connectTo(name, urls))]),
  );
  const gateway = parts.use(
    await startGateway({
      host: config.host,
      port: config.port,
      config: config.gateway.http,
      service,
      transports: transportsOf(byOwner),
      sharedSecret: () => keys.signing.d,
      dependencies: Object.fromEntries(
        [...byOwner].map(([name, transport]) => [name, () => checkHealth(transport)]),
      ),
      logger,
      metrics,
    }),
  );
  const running = parts.move();
  return {
    url: gateway.url,
    port: gateway.port,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function transportsOf(byOwner: ReadonlyMap<string, Transport>): ReadonlyMap<string, Transport> {
  const served = publicServices.filter((service) => !ownServices.includes(service));
  return new Map(served.map(({ typeName }) => [typeName, transportOf(byOwner, typeName)]));
}

/** Packages are named after their service: `scrip.voucher.v1`. */
function transportOf(byOwner: ReadonlyMap<string, Transport>, typeName: string): Transport {
  const owner = typeName.split(".")[1] ?? "";
  const transport = byOwner.get(owner);
  if (transport === undefined)
    throw new Error(`the gateway has no URL for the service that owns ${typeName}`);
  return transport;
}

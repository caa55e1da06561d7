import type { readCampaignLimits } from "@scrip/campaign/config";
import { createCampaignService } from "@scrip/campaign/service";
import { createEventBus, type EventBus, type KafkaConnection } from "@scrip/events";
import { createExportService, type FileStore } from "@scrip/export/service";
import type { WebhookSettings } from "@scrip/export/webhook-settings";
import type { GatewayConfig } from "@scrip/gateway/config";
import type { CounterStore } from "@scrip/gateway/counters";
import { type Gateway, type StartedGateway, startGateway } from "@scrip/gateway/server";
import { createGatewayService, type GatewayService } from "@scrip/gateway/service";
import { createLoyaltyService } from "@scrip/loyalty/service";
import {
  type Admission,
  createAdmission,
  createDirectTransport,
  eventRetention,
  followClock,
  measureCalls,
  type ReplicatingService,
  type Retention,
  type RpcServer,
  serve,
} from "@scrip/rpc";
import type { Logger, Metrics } from "@scrip/telemetry";
import { createValidationService } from "@scrip/validation/service";
import { createVoucherService } from "@scrip/voucher/service";

import type { Secrets } from "./data-folder.ts";

export type CompositionOptions = {
  readonly host: string;
  readonly port: number;
  readonly grpcPort: number | undefined;
  readonly databaseUrl: string;
  /** Holds the events instead of the database. */
  readonly kafka: KafkaConnection | undefined;
  readonly gateway: GatewayConfig;
  readonly secrets: Secrets;
  readonly retention: Retention;
  readonly webhooks: WebhookSettings;
  /** Where the files of exports are. */
  readonly files: FileStore;
  /** The address of the API, for links to files. */
  readonly baseUrl: string;
  readonly limits: ReturnType<typeof readCampaignLimits>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Counts rate limits together with other workers of this machine. */
  readonly counters?: CounterStore | undefined;
};

/** Few connections make larger batches, and one process needs no more. */
const POOL_SIZE = 4;

/** How long consumers may take to finish when the process stops. */
const CONSUMERS_CLOSE_MS = 3_000;

/** Few events are left to deliver once the services have stopped. */
const BUS_CLOSE_MS = 2_000;

export type Composition = Gateway & {
  /** Whether the bootstrap keys belong to a project of this database. */
  readonly hasBootstrapKeys: boolean;
};

/** Runs the gateway and all services in this process; calls between them stay in memory. */
export async function startScrip(options: CompositionOptions): Promise<Composition> {
  await using parts = new AsyncDisposableStack();
  const { databaseUrl, logger } = options;
  parts.use(await followClock(databaseUrl, logger));
  const bus = await createEventBus({
    kafka: options.kafka,
    url: databaseUrl,
    poolSize: POOL_SIZE,
    retention: eventRetention(options.retention),
    metrics: options.metrics,
    onError: (error) => logger.error({ err: error }, "the event bus failed"),
  });
  parts.defer(() => bus.close(BUS_CLOSE_MS));
  const services = await startServices(parts, bus, options);
  const admission = createAdmission(options.gateway.http.admission, options.metrics);
  const { tokenSeconds, bootstrap } = options.gateway;
  const service = parts.use(
    await createGatewayService({
      databaseUrl,
      poolSize: POOL_SIZE,
      tokenSeconds,
      bootstrap,
      bus,
      retention: options.retention,
      logger,
      metrics: options.metrics,
    }),
  );
  parts.defer(() => bus.closeSubscriptions(CONSUMERS_CLOSE_MS));
  const { url, port, codeGuessing } = parts.use(
    await openGateway(service, services, { ...options, admission }),
  );
  if (options.grpcPort !== undefined) {
    const grpc = { ...options, admission, codeGuessing };
    parts.use(await serveGrpc(services, options.grpcPort, grpc));
  }
  const { hasBootstrapKeys } = service;
  const all = parts.move();
  return { url, port, hasBootstrapKeys, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Starts callees before their callers; they close in the reverse order. */
async function startServices(
  parts: AsyncDisposableStack,
  bus: EventBus,
  {
    databaseUrl,
    logger,
    metrics,
    secrets,
    retention,
    webhooks,
    files,
    baseUrl,
    limits,
  }: CompositionOptions,
): Promise<readonly ReplicatingService[]> {
  const onError = (error: Error): void => logger.error({ err: error }, "a service failed");
  const batches = metrics.histogram({
    name: "batch_size",
    help: "Items per batched call between services",
    labels: ["batch"],
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
  });

  const own = { databaseUrl, poolSize: POOL_SIZE, retention, metrics, onError };
  const { assetSecret, trackingSecret } = secrets;
  const loyalty = parts.use(await createLoyaltyService({ ...own, bus }));
  const toLoyalty = { loyalty: directTo([loyalty]) };
  const voucher = parts.use(
    await createVoucherService({ ...own, bus, assetSecret, transports: toLoyalty }),
  );
  const toVoucher = { voucher: directTo([voucher]) };
  const campaign = parts.use(
    await createCampaignService({ ...own, ...limits, bus, transports: toVoucher }),
  );
  const below = [loyalty, campaign, voucher];
  const transport = directTo(below);
  const transports = { voucher: transport, campaign: transport, loyalty: transport };
  const validation = parts.use(
    await createValidationService({
      ...own,
      bus,
      trackingSecret,
      onBatch: (batch, size) => batches.observe({ batch }, size),
      transports,
    }),
  );
  const bulk = parts.use(
    await createExportService({
      ...own,
      bus,
      webhooks,
      transports: { ...transports, validation: directTo([validation]) },
      files,
      baseUrl,
    }),
  );
  return [...below, validation, bulk];
}

/** All servers of the process share the bounds of its work. */
type ServerOptions = CompositionOptions & { readonly admission: Admission };

function openGateway(
  service: GatewayService,
  services: readonly ReplicatingService[],
  { logger, metrics, gateway, host, port, admission, counters, secrets }: ServerOptions,
): Promise<StartedGateway> {
  const transport = directTo(services);
  const implementations = services.flatMap((each) => each.implementations);
  return startGateway({
    host,
    port,
    config: gateway.http,
    service,
    transports: new Map(implementations.map((each) => [each.service.typeName, transport])),
    logger,
    metrics,
    inProcess: services,
    sharedSecret: () => secrets.serviceKeys.signing.d,
    dependencies: Object.fromEntries(services.map(({ name, ready }) => [name, ready])),
    admission,
    counters,
  });
}

function serveGrpc(
  services: readonly ReplicatingService[],
  port: number,
  {
    host,
    secrets,
    logger,
    metrics,
    admission,
    codeGuessing,
  }: ServerOptions & Pick<StartedGateway, "codeGuessing">,
): Promise<RpcServer> {
  const measure = measureCalls(metrics);
  return serve({
    host,
    port,
    services,
    keys: secrets.serviceKeys,
    admission,
    codeGuessing,
    onCall: (report) => {
      measure(report);
      const { cause, ...call } = report;
      if (cause !== undefined) logger.error({ ...call, err: cause }, "a call failed");
    },
  });
}

function directTo(services: readonly ReplicatingService[]) {
  return createDirectTransport(services.flatMap(({ implementations }) => implementations));
}

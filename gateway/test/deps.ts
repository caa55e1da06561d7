import type { DescService } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { ApiError } from "@scrip/errors";
import { createPgEventBus } from "@scrip/events";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import {
  type Call,
  createDirectTransport,
  DEFAULT_ADMISSION,
  type Implementation,
} from "@scrip/rpc";
import { createLogger, createMetrics, type Logger, type Metrics } from "@scrip/telemetry";
import { migratedDatabase } from "@scrip/testing";

import { type BootstrapKeys, generateBootstrap } from "../src/bootstrap.ts";
import type { HttpConfig } from "../src/config.ts";
import { ownServices } from "../src/public-services.ts";
import { type Gateway, startGateway } from "../src/server.ts";
import {
  createGatewayService,
  type GatewayService,
  type GatewayServiceOptions,
} from "../src/service.ts";
import { stubService } from "./service-stubs.ts";

export const MANAGEMENT = { id: "management-test", token: "management-token-test" };

export const NO_LIMITS: HttpConfig["limits"] = {
  callsPerMinute: 0,
  bulkPerHour: 0,
  clientPer5Seconds: 0,
  failuresPerMinute: 0,
  codeMisses: 0,
  serverCodeMisses: 0,
  keyCodeMisses: 0,
};

export type TestGateway = AsyncDisposable & {
  readonly url: string;
  readonly databaseUrl: string;
  readonly gateway: Gateway;
  readonly service: GatewayService;
  readonly keys: BootstrapKeys;
  readonly metrics: Metrics;
};

export type StartOptions = {
  readonly config?: Partial<HttpConfig>;
  /** Stubs of the services that the gateway calls. */
  readonly implementations?: readonly Implementation[];
  readonly keys?: Partial<BootstrapKeys>;
  readonly tokenSeconds?: number;
  readonly clock?: () => number;
  readonly logger?: Logger;
  readonly deadlineMs?: number;
  readonly sharedSecret?: () => string;
};

/** The service with an event bus of its own. */
export async function createTestService(
  databaseUrl: string,
  bootstrap?: BootstrapKeys,
  options: Partial<GatewayServiceOptions> = {},
): Promise<GatewayService> {
  await using parts = new AsyncDisposableStack();
  const bus = await createPgEventBus({ url: databaseUrl, poolSize: 1, onError: () => {} });
  parts.defer(() => bus.close(1_000));
  const logger = { error: () => {} };
  const service = parts.use(
    await createGatewayService({ databaseUrl, bus, logger, bootstrap, ...options }),
  );
  const running = parts.move();
  return { ...service, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** A gateway on a database of its own with one project, whose keys are known. */
export async function startTestGateway(options: StartOptions = {}): Promise<TestGateway> {
  const { implementations = [] } = options;
  await using parts = new AsyncDisposableStack();
  const database = parts.use(await migratedDatabase("gateway", "events"));
  const keys = { ...generateBootstrap(), ...options.keys };
  const logger = options.logger ?? createLogger({ service: "gateway", level: "silent" });
  const service = parts.use(
    await createTestService(database.url, keys, {
      logger,
      ...(options.tokenSeconds !== undefined && { tokenSeconds: options.tokenSeconds }),
      ...(options.clock !== undefined && { clock: options.clock }),
    }),
  );
  const metrics = createMetrics();
  const direct = createDirectTransport(implementations);
  const gateway = parts.use(
    await startGateway({
      host: "127.0.0.1",
      port: 0,
      config: {
        admission: DEFAULT_ADMISSION,
        limits: NO_LIMITS,
        maxBodyBytes: 256 * 1024,
        maxUploadBytes: 16 * 1024 * 1024,
        trustedProxies: 0,
        redisUrl: undefined,
        management: MANAGEMENT,
        baseUrl: undefined,
        drainSeconds: 0,
        ...options.config,
      },
      service,
      transports: new Map<string, Transport>(
        implementations.map((each) => [each.service.typeName, direct]),
      ),
      services: servicesOf(implementations),
      sharedSecret: options.sharedSecret,
      ...(options.deadlineMs !== undefined && { deadlineMs: options.deadlineMs }),
      logger,
      metrics,
    }),
  );
  const running = parts.move();
  return {
    url: gateway.url,
    databaseUrl: database.url,
    gateway,
    service,
    keys,
    metrics,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

export type RecordingGateway = TestGateway & { readonly calls: readonly Call[] };

/** A gateway whose services record each call and respond with not_implemented. */
export async function startRecordingGateway(): Promise<RecordingGateway> {
  const calls: Call[] = [];
  const record = async (_request: never, call: Call): Promise<never> => {
    calls.push(call);
    throw new ApiError("not_implemented");
  };
  const gateway = await startTestGateway({
    implementations: [
      stubService(VoucherService, {}, record),
      stubService(ValidationService, {}, record),
    ],
  });
  return { ...gateway, calls };
}

const servicesOf = (implementations: readonly Implementation[]): readonly DescService[] => [
  ...ownServices,
  ...implementations.map(({ service }) => service),
];

import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { generateServiceKey, type ServiceKeys } from "@scrip/rpc";
import { freePort } from "@scrip/testing/free-port";

import { type RunningProcess, startProcess } from "./process.ts";

export type Keys = {
  readonly appId: string;
  readonly appToken: string;
  readonly clientAppId: string;
  readonly clientToken: string;
  readonly managementId: string;
  readonly managementToken: string;
};

/** A running Scrip installation, accessed through its public interfaces. */
export type Stack = AsyncDisposable & {
  readonly url: string;
  readonly databaseUrl: string;
  readonly keys: Keys;
  readonly serviceKeys: ServiceKeys;
  /** gRPC addresses of the services; one port serves all in the standalone composition. */
  readonly grpc: Readonly<Record<string, string>>;
  /** Addresses of the metrics of each process. */
  readonly metrics: Readonly<Record<string, string>>;
  /** The ids of its processes. */
  readonly pids: () => readonly number[];
  /** The log file of all processes. */
  readonly log: string;
  /**
   * Kills the process that serves HTTP, or the process of `service` in the distributed composition,
   * with `kill -9`, and restarts it on the same data.
   */
  readonly crash: (service?: ServiceName) => Promise<void>;
  /**
   * Starts replicas on the same database and returns their address: of the one process, or of a gateway
   * with its own validation and voucher services. They stop with the stack.
   */
  readonly startReplica: () => Promise<string>;
};

/** Where a process listens, and which other services it calls. */
type Place = {
  readonly port: number;
  readonly metricsPort: number;
  /** The standalone composition serves gRPC beside HTTP. */
  readonly grpcPort: number;
  readonly urls?: Readonly<Record<string, string>>;
};

const newPlace = async (urls: Place["urls"] = {}): Promise<Place> => ({
  port: await freePort(),
  metricsPort: await freePort(),
  grpcPort: await freePort(),
  urls,
});

export const SERVICES = ["loyalty", "voucher", "campaign", "validation", "export"] as const;
export type ServiceName = (typeof SERVICES)[number];

export type Composition = "standalone" | "distributed";
export const COMPOSITIONS: readonly Composition[] = ["standalone", "distributed"];

/** Receivers of webhooks are servers of the tests. */
const LOCAL_WEBHOOKS = { SCRIP_WEBHOOK_ALLOW_HTTP: "true", SCRIP_WEBHOOK_ALLOW_PRIVATE: "true" };

const NO_LIMITS = {
  SCRIP_LIMIT_CALLS_PER_MINUTE: "0",
  SCRIP_LIMIT_BULK_PER_HOUR: "0",
  SCRIP_LIMIT_CLIENT_PER_5_SECONDS: "0",
};

export type StackOptions = {
  /** The database of the stack, deleted with the stack. */
  readonly database: AsyncDisposable & { readonly url: string };
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of Node for each process. */
  readonly nodeArgs?: readonly string[];
};

export async function startComposition(
  composition: Composition,
  { database, env = {}, nodeArgs }: StackOptions,
): Promise<Stack> {
  await using parts = new AsyncDisposableStack();
  parts.use(database);
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-test-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const start = composition === "standalone" ? startStandalone : startDistributed;
  const log = path.join(folder, "output.log");
  const running = await start({ parts, databaseUrl: database.url, folder, log, env, nodeArgs });
  const ending = parts.move();
  return {
    ...running,
    databaseUrl: database.url,
    log,
    [Symbol.asyncDispose]: () => ending.disposeAsync(),
  };
}

type Start = {
  /** Resources to dispose of when the stack ends, in reverse order. */
  readonly parts: AsyncDisposableStack;
  readonly databaseUrl: string;
  readonly folder: string;
  readonly log: string;
  readonly env: Readonly<Record<string, string>>;
  readonly nodeArgs: readonly string[] | undefined;
};

type Started = Omit<Stack, "databaseUrl" | "log" | typeof Symbol.asyncDispose>;

/** One process, as `npm start` runs it. */
async function startStandalone({
  parts,
  databaseUrl,
  folder,
  log,
  env,
  nodeArgs,
}: Start): Promise<Started> {
  const own = await newPlace();
  const start = ({ port, metricsPort, grpcPort }: Place): Promise<RunningProcess> =>
    startProcess({
      main: "deploy/standalone/src/main.ts",
      env: {
        ...NO_LIMITS,
        DATABASE_URL: databaseUrl,
        SCRIP_DATA_DIR: folder,
        SCRIP_PORT: String(port),
        SCRIP_METRICS_PORT: String(metricsPort),
        SCRIP_GRPC_PORT: String(grpcPort),
        ...LOCAL_WEBHOOKS,
        ...env,
      },
      nodeArgs,
      log,
      ready: () => isReady(localUrl(port)),
    });
  let running = await start(own);
  parts.defer(() => running[Symbol.asyncDispose]());
  const replicas = parts.use(new AsyncDisposableStack());
  const variables = await readVariables(path.join(folder, "keys.env"));
  const secrets = JSON.parse(await readFile(path.join(folder, "secrets.json"), "utf8")) as {
    serviceKeys: ServiceKeys;
  };
  return {
    url: localUrl(own.port),
    keys: keysOf(variables),
    serviceKeys: secrets.serviceKeys,
    grpc: Object.fromEntries(SERVICES.map((name) => [name, localUrl(own.grpcPort)])),
    metrics: { scrip: metricsUrl(own.metricsPort) },
    pids: () => [running.pid],
    async crash() {
      await running.kill();
      running = await start(own);
    },
    async startReplica() {
      const place = await newPlace();
      replicas.use(await start(place));
      return localUrl(place.port);
    },
  };
}

const KEYS: Keys = {
  appId: "app_test_server",
  appToken: "test-server-token-0123456789abcdef",
  clientAppId: "app_test_client",
  clientToken: "test-client-token-0123456789abcdef",
  managementId: "mgmt_test",
  managementToken: "test-management-token-0123456789abcdef",
};

/** One process per service and one for the gateway, which communicate over gRPC. */
async function startDistributed({
  parts,
  databaseUrl,
  folder,
  log,
  env,
  nodeArgs,
}: Start): Promise<Started> {
  const serviceKeys = await generateServiceKey();
  const names = SERVICES;
  const places = new Map<ServiceName, Place>();
  for (const name of names) places.set(name, await newPlace());
  const gatewayPlace = await newPlace();
  const grpc = Object.fromEntries([...places].map(([name, { port }]) => [name, localUrl(port)]));
  const shared = {
    DATABASE_URL: databaseUrl,
    SCRIP_HOST: "127.0.0.1",
    SCRIP_SERVICE_KEY: JSON.stringify(serviceKeys.signing),
    SCRIP_SERVICE_JWKS: JSON.stringify(serviceKeys.trusted),
    SCRIP_ASSET_SECRET: "test-asset-secret-0123456789abcdef",
    SCRIP_EXPORT_FOLDER: path.join(folder, "exports"),
    SCRIP_TRACKING_SECRET: "test-tracking-secret-0123456789abcdef",
    ...Object.fromEntries(
      names.map((name) => [`SCRIP_${name.toUpperCase()}_URL`, grpc[name] ?? ""]),
    ),
  };
  const services = new Map<ServiceName, RunningProcess>();
  const startAt = (
    name: ServiceName,
    { port, metricsPort, urls }: Place,
  ): Promise<RunningProcess> =>
    startProcess({
      main: `services/${name}/src/main.ts`,
      env: {
        ...shared,
        ...urls,
        ...LOCAL_WEBHOOKS,
        SCRIP_PORT: String(port),
        SCRIP_METRICS_PORT: String(metricsPort),
        ...env,
      },
      nodeArgs,
      log,
      ready: () => listens(port),
    });
  const startService = async (name: ServiceName): Promise<void> => {
    services.set(name, await startAt(name, places.get(name) ?? (await newPlace())));
  };
  parts.defer(async () => {
    await Promise.all([...services.values()].map((running) => running[Symbol.asyncDispose]()));
  });
  await Promise.all(names.map(startService));
  const startGateway = ({ port, metricsPort, urls }: Place): Promise<RunningProcess> =>
    startProcess({
      main: "gateway/src/main.ts",
      env: {
        ...shared,
        ...urls,
        ...NO_LIMITS,
        SCRIP_PORT: String(port),
        SCRIP_METRICS_PORT: String(metricsPort),
        SCRIP_BOOTSTRAP_APP_ID: KEYS.appId,
        SCRIP_BOOTSTRAP_APP_TOKEN: KEYS.appToken,
        SCRIP_BOOTSTRAP_CLIENT_APP_ID: KEYS.clientAppId,
        SCRIP_BOOTSTRAP_CLIENT_TOKEN: KEYS.clientToken,
        SCRIP_BOOTSTRAP_TRUSTED_DOMAINS: "*",
        SCRIP_MANAGEMENT_ID: KEYS.managementId,
        SCRIP_MANAGEMENT_TOKEN: KEYS.managementToken,
        // No load balancer has to notice the end.
        SCRIP_DRAIN_SECONDS: "0",
        ...env,
      },
      nodeArgs,
      log,
      ready: () => isReady(localUrl(port)),
    });
  let gateway = await startGateway(gatewayPlace);
  parts.defer(() => gateway[Symbol.asyncDispose]());
  const replicas = parts.use(new AsyncDisposableStack());
  return {
    url: localUrl(gatewayPlace.port),
    keys: KEYS,
    serviceKeys,
    grpc,
    metrics: Object.fromEntries(
      [...places, ["gateway", gatewayPlace] as const].map(([name, { metricsPort }]) => [
        name,
        metricsUrl(metricsPort),
      ]),
    ),
    pids: () => [gateway, ...services.values()].map(({ pid }) => pid),
    async crash(service) {
      if (service === undefined) {
        await gateway.kill();
        gateway = await startGateway(gatewayPlace);
      } else {
        await services.get(service)?.kill();
        await startService(service);
      }
    },
    async startReplica() {
      const voucher = await newPlace();
      const validation = await newPlace({ SCRIP_VOUCHER_URL: localUrl(voucher.port) });
      const edge = await newPlace({
        ...validation.urls,
        SCRIP_VALIDATION_URL: localUrl(validation.port),
      });
      replicas.use(await startAt("voucher", voucher));
      replicas.use(await startAt("validation", validation));
      replicas.use(await startGateway(edge));
      return localUrl(edge.port);
    },
  };
}

const localUrl = (port: number): string => `http://127.0.0.1:${port}`;

const metricsUrl = (port: number): string => `${localUrl(port)}/metrics`;

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`);
  await response.arrayBuffer();
  return response.ok;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

async function readVariables(file: string): Promise<Record<string, string>> {
  const text = await readFile(file, "utf8");
  return Object.fromEntries(
    [...text.matchAll(/^(?:export )?(\w+)='([^']*)'$/gm)].map(([, name, value]) => [name, value]),
  );
}

function keysOf(variables: Readonly<Record<string, string>>): Keys {
  const get = (name: string): string => {
    const value = variables[name];
    if (!value) throw new Error(`keys.env has no ${name}`);
    return value;
  };
  return {
    appId: get("SCRIP_APP_ID"),
    appToken: get("SCRIP_APP_TOKEN"),
    clientAppId: get("SCRIP_CLIENT_APP_ID"),
    clientToken: get("SCRIP_CLIENT_TOKEN"),
    managementId: get("SCRIP_MANAGEMENT_ID"),
    managementToken: get("SCRIP_MANAGEMENT_TOKEN"),
  };
}

/** Returns the log of a stack. */
export const outputOf = ({ log }: Pick<Stack, "log">): string => readFileSync(log, "utf8");

import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { generateServiceKey, type ServiceKeys } from "@scrip/rpc";
import { freePort } from "@scrip/testing/free-port";

import { startLoadBalancer } from "./load-balancer.ts";
import { ROOT, type RunningProcess, startProcess } from "./process.ts";

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
  /** The addresses of each process that serves HTTP. */
  readonly gateways: readonly string[];
  readonly databaseUrl: string;
  /** The brokers of its events; undefined when they are in PostgreSQL. */
  readonly kafka?: string;
  readonly keys: Keys;
  readonly serviceKeys: ServiceKeys;
  /** gRPC addresses of the services; one port serves all in the standalone composition. */
  readonly grpc: Readonly<Record<string, string>>;
  /** Addresses of the metrics of each process; those of further replicas are named `voucher-2`. */
  readonly metrics: Readonly<Record<string, string>>;
  /** The ids of its processes. */
  readonly pids: () => readonly number[];
  /** The log file of all processes. */
  readonly log: string;
  /**
   * Kills the processes that serve HTTP, or a process of `service` in the distributed composition,
   * with `kill -9`, and restarts them on the same data; `meanwhile` runs before the restart.
   */
  readonly crash: (service?: ServiceName, meanwhile?: () => Promise<void>) => Promise<void>;
  /**
   * Starts replicas on the same database and returns their address: of the one process, or of a gateway
   * with its own validation and voucher services. They stop with the stack, or before.
   */
  readonly startReplica: () => Promise<string>;
  readonly stopReplicas: () => Promise<void>;
  /** Stops and restarts each replica of a service or of the gateway, one after the other, as a deployment does. */
  readonly restart: (name: ServiceName | "gateway") => Promise<void>;
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
/** Only the cluster of `npm run cluster`, when TEST_CLUSTER names its file. */
export const COMPOSITIONS: readonly Composition[] = process.env["TEST_CLUSTER"]
  ? ["distributed"]
  : ["standalone", "distributed"];

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
  /** Further arguments of Node for each process. */
  readonly nodeArgs?: readonly string[];
  /** Processes of each service and of the gateway in the distributed composition. Default: 1. */
  readonly replicas?: Replicas;
  /** The folder of the code that further processes run. Default: this checkout. */
  readonly checkout?: () => string;
  /** The port at which the others call a process of a service that listens on `port`, such as that of a proxy. */
  readonly via?: Via;
  /** Further variables of the processes of one service, or of the gateway. */
  readonly envOf?: EnvOf;
};

/** The same number of each, or those of some, with one of each other. */
export type Replicas = number | Readonly<Partial<Record<Name, number>>>;

export type EnvOf = (name: Name) => Readonly<Record<string, string>>;

export type Via = (service: ServiceName, port: number) => Promise<number>;

export async function startComposition(
  composition: Composition,
  { database, env = {}, envOf = () => ({}), nodeArgs, replicas = 1, via, checkout }: StackOptions,
): Promise<Stack> {
  await using parts = new AsyncDisposableStack();
  parts.use(database);
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-test-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const start = composition === "standalone" ? startStandalone : startDistributed;
  const log = path.join(folder, "output.log");
  const running = await start({
    parts,
    databaseUrl: database.url,
    folder,
    log,
    env,
    envOf,
    nodeArgs,
    replicas,
    checkout: checkout ?? (() => ROOT),
    via: via ?? (async (_service, port) => port),
  });
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
  readonly envOf: EnvOf;
  readonly nodeArgs: readonly string[] | undefined;
  readonly replicas: Replicas;
  readonly checkout: () => string;
  readonly via: Via;
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
  checkout,
}: Start): Promise<Started> {
  const own = await newPlace();
  const start = ({ port, metricsPort, grpcPort }: Place): Promise<RunningProcess> =>
    startProcess({
      main: "deploy/standalone/src/main.ts",
      checkout: checkout(),
      env: {
        ...NO_LIMITS,
        DATABASE_URL: databaseUrl,
        SCRIP_DATA_DIR: folder,
        SCRIP_PORT: String(port),
        SCRIP_METRICS_PORT: String(metricsPort),
        SCRIP_GRPC_PORT: String(grpcPort),
        // Tests kill the process that serves requests.
        SCRIP_WORKERS: "1",
        ...LOCAL_WEBHOOKS,
        ...env,
      },
      nodeArgs,
      log,
      ready: () => isReady(localUrl(port)),
    });
  let running = await start(own);
  parts.defer(() => running[Symbol.asyncDispose]());
  const replicas = parts.use(createReplicas());
  const variables = await readVariables(path.join(folder, "keys.env"));
  const secrets = JSON.parse(await readFile(path.join(folder, "secrets.json"), "utf8")) as {
    serviceKeys: ServiceKeys;
  };
  return {
    url: localUrl(own.port),
    gateways: [localUrl(own.port)],
    keys: keysOf(variables),
    serviceKeys: secrets.serviceKeys,
    grpc: Object.fromEntries(SERVICES.map((name) => [name, localUrl(own.grpcPort)])),
    metrics: { scrip: metricsUrl(own.metricsPort) },
    pids: () => [running.pid],
    async crash(_service, meanwhile) {
      await running.kill();
      await meanwhile?.();
      running = await start(own);
    },
    async startReplica() {
      const place = await newPlace();
      replicas.use(await start(place));
      return localUrl(place.port);
    },
    stopReplicas: replicas.stop,
    async restart() {
      await running[Symbol.asyncDispose]();
      running = await start(own);
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

/** Processes of each service and of the gateway, which communicate over gRPC. */
async function startDistributed(options: Start): Promise<Started> {
  const { parts, replicas } = options;
  const serviceKeys = await generateServiceKey();
  const countOf = (name: Name): number =>
    typeof replicas === "number" ? replicas : (replicas[name] ?? 1);
  const places = new Map<Name, readonly Place[]>();
  for (const name of NAMES) {
    places.set(name, await Promise.all(Array.from({ length: countOf(name) }, () => newPlace())));
  }
  const { startService, startGateway } = distributedStarter(options, {
    serviceKeys,
    urls: await urlVariables(places, options.via),
  });
  const running = new Map<Name, RunningProcess[]>();
  const startAt = (name: Name, place: Place): Promise<RunningProcess> =>
    name === "gateway" ? startGateway(place) : startService(name, place);
  const startAll = async (name: Name): Promise<void> => {
    const processes: RunningProcess[] = [];
    running.set(name, processes);
    // Many processes that start at once take longer than any may take.
    for (const place of places.get(name) ?? []) processes.push(await startAt(name, place));
  };
  const endAll = async (names: readonly Name[]): Promise<void> => {
    const processes = names.flatMap((name) => running.get(name) ?? []);
    await Promise.all(processes.map((each) => each[Symbol.asyncDispose]()));
  };
  parts.defer(() => endAll(SERVICES));
  if (replicas !== 1) for (const name of SERVICES) await startAll(name);
  else await Promise.all(SERVICES.map(startAll));
  parts.defer(() => endAll(["gateway"]));
  await startAll("gateway");
  const gatewayPorts = (places.get("gateway") ?? []).map(({ port }) => port);
  const balancer =
    gatewayPorts.length === 1 ? undefined : parts.use(await startLoadBalancer(gatewayPorts));
  const extra = parts.use(createReplicas());
  /** Ends a process in some way and starts it again at its place. */
  const replace = async (
    name: Name,
    at: number,
    end: (process: RunningProcess) => PromiseLike<void>,
  ): Promise<void> => {
    const place = places.get(name)?.[at];
    const processes = running.get(name);
    if (place === undefined || processes?.[at] === undefined) return;
    await end(processes[at]);
    processes[at] = await startAt(name, place);
  };
  return {
    url: balancer?.url ?? localUrl(gatewayPorts[0] ?? 0),
    gateways: gatewayPorts.map(localUrl),
    keys: KEYS,
    serviceKeys,
    grpc: Object.fromEntries(
      SERVICES.map((name) => [name, localUrl(places.get(name)?.[0]?.port ?? 0)]),
    ),
    metrics: Object.fromEntries(
      [...places].flatMap(([name, all]) =>
        all.map(({ metricsPort }, at) => [
          at === 0 ? name : `${name}-${at + 1}`,
          metricsUrl(metricsPort),
        ]),
      ),
    ),
    pids: () => [...running.values()].flat().map(({ pid }) => pid),
    async crash(service, meanwhile) {
      if (service === undefined) {
        await Promise.all((running.get("gateway") ?? []).map((each) => each.kill()));
        await meanwhile?.();
        await startAll("gateway");
      } else {
        await replace(service, 0, async (each) => {
          await each.kill();
          await meanwhile?.();
        });
      }
    },
    async restart(name) {
      for (let at = 0; at < countOf(name); at += 1) {
        await replace(name, at, (each) => each[Symbol.asyncDispose]());
      }
    },
    async startReplica() {
      const voucher = await newPlace();
      const validation = await newPlace({ SCRIP_VOUCHER_URL: localUrl(voucher.port) });
      const edge = await newPlace({
        ...validation.urls,
        SCRIP_VALIDATION_URL: localUrl(validation.port),
      });
      extra.use(await startService("voucher", voucher));
      extra.use(await startService("validation", validation));
      extra.use(await startGateway(edge));
      return localUrl(edge.port);
    },
    stopReplicas: extra.stop,
  };
}

export type Name = ServiceName | "gateway";
export const NAMES: readonly Name[] = [...SERVICES, "gateway"];

/** SCRIP_<SERVICE>_URL with the addresses of all replicas. */
async function urlVariables(
  places: ReadonlyMap<Name, readonly Place[]>,
  via: Via,
): Promise<Readonly<Record<string, string>>> {
  const variables: Record<string, string> = {};
  for (const name of SERVICES) {
    const ports = (places.get(name) ?? []).map(({ port }) => via(name, port));
    variables[`SCRIP_${name.toUpperCase()}_URL`] = (await Promise.all(ports))
      .map(localUrl)
      .join(",");
  }
  return variables;
}

/** Starts the processes of one installation. */
function distributedStarter(
  { databaseUrl, folder, log, env, envOf, nodeArgs, checkout }: Start,
  {
    serviceKeys,
    urls,
  }: { readonly serviceKeys: ServiceKeys; readonly urls: Readonly<Record<string, string>> },
) {
  const common = (place: Place): Readonly<Record<string, string>> => ({
    DATABASE_URL: databaseUrl,
    SCRIP_HOST: "127.0.0.1",
    SCRIP_PORT: String(place.port),
    SCRIP_METRICS_PORT: String(place.metricsPort),
    // No load balancer has to notice the end.
    SCRIP_DRAIN_SECONDS: "0",
    SCRIP_SERVICE_KEY: JSON.stringify(serviceKeys.signing),
    SCRIP_SERVICE_JWKS: JSON.stringify(serviceKeys.trusted),
    SCRIP_ASSET_SECRET: "test-asset-secret-0123456789abcdef",
    SCRIP_EXPORT_FOLDER: path.join(folder, "exports"),
    SCRIP_TRACKING_SECRET: "test-tracking-secret-0123456789abcdef",
    ...urls,
    ...place.urls,
  });
  return {
    startService: (name: ServiceName, place: Place): Promise<RunningProcess> =>
      startProcess({
        main: `services/${name}/src/main.ts`,
        checkout: checkout(),
        env: { ...common(place), ...LOCAL_WEBHOOKS, ...env, ...envOf(name) },
        nodeArgs,
        log,
        ready: () => listens(place.port),
      }),
    startGateway: (place: Place): Promise<RunningProcess> =>
      startProcess({
        main: "gateway/src/main.ts",
        checkout: checkout(),
        env: {
          ...common(place),
          ...NO_LIMITS,
          SCRIP_BOOTSTRAP_APP_ID: KEYS.appId,
          SCRIP_BOOTSTRAP_APP_TOKEN: KEYS.appToken,
          SCRIP_BOOTSTRAP_CLIENT_APP_ID: KEYS.clientAppId,
          SCRIP_BOOTSTRAP_CLIENT_TOKEN: KEYS.clientToken,
          SCRIP_BOOTSTRAP_TRUSTED_DOMAINS: "*",
          SCRIP_MANAGEMENT_ID: KEYS.managementId,
          SCRIP_MANAGEMENT_TOKEN: KEYS.managementToken,
          ...env,
          ...envOf("gateway"),
        },
        nodeArgs,
        log,
        ready: () => isReady(localUrl(place.port)),
      }),
  };
}

/** Processes that may stop before the stack. */
function createReplicas() {
  let running = new AsyncDisposableStack();
  const stop = async (): Promise<void> => {
    const stopping = running;
    running = new AsyncDisposableStack();
    await stopping.disposeAsync();
  };
  return {
    use: (one: RunningProcess): RunningProcess => running.use(one),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const localUrl = (port: number): string => `http://127.0.0.1:${port}`;

const metricsUrl = (port: number): string => `${localUrl(port)}/metrics`;

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`);
  const { status } = (await response.json()) as { readonly status?: string };
  return status === "ready";
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

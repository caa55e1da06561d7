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
  /** gRPC addresses of the services; empty for the standalone composition. */
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
};

const SERVICES = ["loyalty", "voucher", "campaign", "validation"] as const;
export type ServiceName = (typeof SERVICES)[number];

export type Composition = "standalone" | "distributed";
export const COMPOSITIONS: readonly Composition[] = ["standalone", "distributed"];

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
  const [port, metricsPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const start = (): Promise<RunningProcess> =>
    startProcess({
      main: "deploy/standalone/src/main.ts",
      env: {
        ...NO_LIMITS,
        DATABASE_URL: databaseUrl,
        SCRIP_DATA_DIR: folder,
        SCRIP_PORT: String(port),
        SCRIP_METRICS_PORT: String(metricsPort),
        ...env,
      },
      nodeArgs,
      log,
      ready: () => isReady(url),
    });
  let running = await start();
  parts.defer(() => running[Symbol.asyncDispose]());
  const variables = await readVariables(path.join(folder, "keys.env"));
  const secrets = JSON.parse(await readFile(path.join(folder, "secrets.json"), "utf8")) as {
    serviceKeys: ServiceKeys;
  };
  return {
    url,
    keys: keysOf(variables),
    serviceKeys: secrets.serviceKeys,
    grpc: {},
    metrics: { scrip: metricsUrl(metricsPort) },
    pids: () => [running.pid],
    async crash() {
      await running.kill();
      running = await start();
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
  log,
  env,
  nodeArgs,
}: Start): Promise<Started> {
  const serviceKeys = await generateServiceKey();
  const names = SERVICES;
  const ports = await Promise.all([...names, "gateway"].map(() => freePort()));
  const metricsPorts = await Promise.all(ports.map(() => freePort()));
  const grpc = Object.fromEntries(names.map((name, i) => [name, `http://127.0.0.1:${ports[i]}`]));
  const shared = {
    DATABASE_URL: databaseUrl,
    SCRIP_HOST: "127.0.0.1",
    SCRIP_SERVICE_KEY: JSON.stringify(serviceKeys.signing),
    SCRIP_SERVICE_JWKS: JSON.stringify(serviceKeys.trusted),
    SCRIP_ASSET_SECRET: "test-asset-secret-0123456789abcdef",
    SCRIP_TRACKING_SECRET: "test-tracking-secret-0123456789abcdef",
    ...Object.fromEntries(
      names.map((name) => [`SCRIP_${name.toUpperCase()}_URL`, grpc[name] ?? ""]),
    ),
  };
  const services = new Map<ServiceName, RunningProcess>();
  const startService = async (name: ServiceName): Promise<void> => {
    const port = ports[names.indexOf(name)] ?? 0;
    const running = await startProcess({
      main: `services/${name}/src/main.ts`,
      env: {
        ...shared,
        SCRIP_PORT: String(port),
        SCRIP_METRICS_PORT: String(metricsPorts[names.indexOf(name)]),
        ...env,
      },
      nodeArgs,
      log,
      ready: () => listens(port),
    });
    services.set(name, running);
  };
  parts.defer(async () => {
    await Promise.all([...services.values()].map((running) => running[Symbol.asyncDispose]()));
  });
  await Promise.all(names.map(startService));
  const url = `http://127.0.0.1:${ports[names.length]}`;
  const start = (): Promise<RunningProcess> =>
    startProcess({
      main: "gateway/src/main.ts",
      env: {
        ...shared,
        ...NO_LIMITS,
        SCRIP_PORT: String(ports[names.length]),
        SCRIP_METRICS_PORT: String(metricsPorts[names.length]),
        SCRIP_BOOTSTRAP_APP_ID: KEYS.appId,
        SCRIP_BOOTSTRAP_APP_TOKEN: KEYS.appToken,
        SCRIP_BOOTSTRAP_CLIENT_APP_ID: KEYS.clientAppId,
        SCRIP_BOOTSTRAP_CLIENT_TOKEN: KEYS.clientToken,
        SCRIP_BOOTSTRAP_TRUSTED_DOMAINS: "*",
        SCRIP_MANAGEMENT_ID: KEYS.managementId,
        SCRIP_MANAGEMENT_TOKEN: KEYS.managementToken,
        ...env,
      },
      nodeArgs,
      log,
      ready: () => isReady(url),
    });
  let gateway = await start();
  parts.defer(() => gateway[Symbol.asyncDispose]());
  return {
    url,
    keys: KEYS,
    serviceKeys,
    grpc,
    metrics: Object.fromEntries(
      [...names, "gateway"].map((name, i) => [name, metricsUrl(metricsPorts[i] ?? 0)]),
    ),
    pids: () => [gateway, ...services.values()].map(({ pid }) => pid),
    async crash(service) {
      if (service === undefined) {
        await gateway.kill();
        gateway = await start();
      } else {
        await services.get(service)?.kill();
        await startService(service);
      }
    },
  };
}

const metricsUrl = (port: number): string => `http://127.0.0.1:${port}/metrics`;

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

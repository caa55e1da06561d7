import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import {
  startTcpProxy,
  type TcpProxy,
  type TestKafka,
  testKafka,
  type TestRedis,
  testRedis,
} from "@scrip/testing";
import kafkajs, { type Kafka } from "kafkajs";
import { Client } from "pg";

import { openBenchDatabase } from "../load/postgres.ts";
import {
  type Composition,
  type Replicas,
  type ServiceName,
  type Stack,
  startComposition,
} from "../stack/compositions.ts";
import { problemsIn } from "../stack/logged-problems.ts";
import { type CallProxy, startCallProxy } from "./call-proxy.ts";
import { type Clocks, createClocks } from "./clocks.ts";
import { openShop, type Shop } from "./shop.ts";

/** The token of a load must not end before the experiment, which may take longer than the default. */
const TOKEN_SECONDS = 24 * 60 * 60;

/** Where the event log of an installation is. */
export type Bus = "postgres" | "kafka";

/** How the processes of an installation are started. */
export type Setup = {
  readonly composition?: Composition;
  /** Processes of each service, of which the distributed composition has several. Default: 1. */
  readonly replicas?: Replicas;
  /** With a Redis of its own. */
  readonly redis?: true;
  /** Processes reach their database, or this service, through proxies. */
  readonly proxied?: "postgres" | ServiceName;
  /** Calls of this service pass through proxies that know their streams. */
  readonly callsProxied?: ServiceName;
  /** Processes reach the event log in PostgreSQL, and nothing else, through a proxy. */
  readonly eventsProxied?: true;
  /** The folder of the code that further processes run. Default: this checkout. */
  readonly checkout?: () => string;
  readonly env?: Readonly<Record<string, string>>;
  /** Further arguments of Node for each process. */
  readonly nodeArgs?: readonly string[];
  /** PostgreSQL collects its statements in `pg_stat_statements`. */
  readonly statements?: true;
  /** The clock of each process can be changed; needs `faketime`. */
  readonly clocks?: true;
};

/** An installation with a loyalty programme, whose customers earn points for paid orders. */
export type Installation = {
  readonly stack: Stack;
  readonly shop: Shop;
  /** A superuser of its database. */
  readonly database: Client;
  /** The broker, with its process; undefined when the events are in PostgreSQL. */
  readonly kafka: Broker | undefined;
  readonly redis: TestRedis | undefined;
  /** In front of the database, or of each process of a service. */
  readonly proxies: readonly TcpProxy[];
  /** In front of each process of a service. */
  readonly callProxies: readonly CallProxy[];
  readonly clocks: Clocks | undefined;
};

export type Broker = NonNullable<TestKafka["program"]> & {
  readonly client: Kafka;
  /** As in SCRIP_KAFKA_BROKERS. */
  readonly brokers: string;
};

/** Starts an installation of its own for `work`. */
export async function withInstallation(
  {
    bus,
    composition = "standalone",
    replicas = 1,
    proxied,
    callsProxied,
    eventsProxied,
    nodeArgs = [],
    ...setup
  }: Setup & { readonly bus: Bus },
  work: (installation: Installation) => Promise<void>,
): Promise<void> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-faults-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const postgres = parts.use(await openBenchDatabase(path.join(folder, "postgres"), setup));
  const url = await postgres.create("faults");
  const kafka = bus === "kafka" ? parts.use(await testKafka()) : undefined;
  const redis = setup.redis && parts.use(await testRedis());
  const proxies: TcpProxy[] = [];
  const startProxy = async (port: number): Promise<number> => {
    const proxy = parts.use(await startTcpProxy({ host: "127.0.0.1", port }));
    proxies.push(proxy);
    return proxy.port;
  };
  const proxiedUrl = new URL(url);
  if (proxied === "postgres") proxiedUrl.port = String(await startProxy(Number(proxiedUrl.port)));
  const eventsUrl = new URL(url);
  if (eventsProxied) eventsUrl.port = String(await startProxy(Number(eventsUrl.port)));
  const callProxies: CallProxy[] = [];
  const via = async (service: ServiceName, port: number): Promise<number> => {
    if (service === proxied) return startProxy(port);
    if (service !== callsProxied) return port;
    const proxy = parts.use(await startCallProxy(port));
    callProxies.push(proxy);
    return proxy.port;
  };
  const clocks = setup.clocks && createClocks(await mkdtemp(path.join(folder, "clocks-")));
  const stack = parts.use(
    await startComposition(composition, {
      ...(clocks && { envOf: clocks.envOf }),
      database: { url, [Symbol.asyncDispose]: async () => {} },
      replicas,
      nodeArgs,
      via,
      ...(setup.checkout && { checkout: setup.checkout }),
      env: {
        DATABASE_URL: proxiedUrl.href,
        SCRIP_TOKEN_SECONDS: String(TOKEN_SECONDS),
        ...(eventsProxied && { SCRIP_EVENTS_DATABASE_URL: eventsUrl.href }),
        ...(kafka && { SCRIP_KAFKA_BROKERS: kafka.brokers }),
        ...(redis && { SCRIP_REDIS_URL: redis.url }),
        ...setup.env,
      },
    }),
  );
  const database = new Client({ connectionString: url });
  // Faults end its connection, too.
  database.on("error", () => {});
  await database.connect();
  parts.defer(() => database.end());
  const shop = parts.use(await openShop(stack));
  const since = new Date().toISOString();
  try {
    await work({
      stack,
      shop,
      database,
      kafka: brokerOf(kafka),
      redis,
      proxies,
      callProxies,
      clocks,
    });
  } catch (error) {
    for (const line of problemsIn([stack.log], since)) console.log(line);
    throw error;
  }
}

function brokerOf(kafka: TestKafka | undefined): Broker | undefined {
  if (kafka === undefined) return undefined;
  if (kafka.program === undefined)
    throw new Error("faults start and kill a broker of their own: unset KAFKA_BROKERS");
  const client = new kafkajs.Kafka({
    brokers: kafka.brokers.split(","),
    logLevel: kafkajs.logLevel.NOTHING,
  });
  return { ...kafka.program, client, brokers: kafka.brokers };
}

/** The broker of a fault that runs with Kafka only. */
export function brokerIn({ kafka }: Pick<Installation, "kafka">): Broker {
  if (kafka === undefined) throw new Error("this fault needs Kafka");
  return kafka;
}

/** The Redis of a fault that runs with it. */
export function redisIn({ redis }: Pick<Installation, "redis">): TestRedis {
  if (redis === undefined) throw new Error("this fault needs Redis");
  return redis;
}

/** The clocks of a fault that changes them. */
export function clocksIn({ clocks }: Pick<Installation, "clocks">): Clocks {
  if (clocks === undefined) throw new Error("this fault needs clocks");
  return clocks;
}

/** The proxy in front of what a fault is about. */
export function proxyIn({ proxies }: Pick<Installation, "proxies">): TcpProxy {
  const [proxy] = proxies;
  if (proxy === undefined) throw new Error("this fault needs a proxy");
  return proxy;
}

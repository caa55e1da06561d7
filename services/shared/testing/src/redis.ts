import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Redis } from "ioredis";

import { accepts } from "./accepts.ts";
import { freePort } from "./free-port.ts";
import { findRedis } from "./optional-servers.ts";
import { startTcpProxy } from "./tcp-proxy.ts";

export type TestRedis = AsyncDisposable & {
  readonly url: string;
  /** Ends the server as a crash does. */
  readonly kill: () => Promise<void>;
  /** Starts the server again, empty, on the same port. */
  readonly restart: () => Promise<void>;
  /** Accepts connections but responds to nothing until it is thawed. */
  readonly freeze: () => void;
  readonly thaw: () => void;
};

const START_TIMEOUT_MS = 30_000;
const POLL_MS = 20;
const IMAGE = "redis:8-alpine";
const REDIS_PORT = 6379;

/**
 * A real Redis for one test file: the server of TEST_REDIS_URL (whose database the tests empty), else
 * redis-server from PATH, else a container. Fails if there is none.
 */
export async function testRedis(): Promise<TestRedis> {
  const source = findRedis();
  if (source === "program") return startProgram();
  if (source === "container") return startContainer();
  if (source !== undefined) return proxyTo(new URL(source.url));
  throw new Error(
    "This test needs Redis: install redis-server, set TEST_REDIS_URL, or start Docker",
  );
}

async function startContainer(): Promise<TestRedis> {
  const { GenericContainer } = await import("testcontainers");
  const container = await new GenericContainer(IMAGE).withExposedPorts(REDIS_PORT).start();
  const url = `redis://${container.getHost()}:${container.getMappedPort(REDIS_PORT)}`;
  const redis = await proxyTo(new URL(url));
  return {
    ...redis,
    async [Symbol.asyncDispose]() {
      await redis[Symbol.asyncDispose]();
      await container.stop();
    },
  };
}

/** A server that this process must not end: a proxy in front of it fails instead. */
async function proxyTo(server: URL): Promise<TestRedis> {
  const proxy = await startTcpProxy({
    host: server.hostname,
    port: Number(server.port || REDIS_PORT),
  });
  const url = new URL(server);
  url.hostname = "127.0.0.1";
  url.port = String(proxy.port);
  return {
    url: url.href,
    kill: proxy.close,
    async restart() {
      await flush(server);
      await proxy.open();
    },
    freeze: proxy.freeze,
    thaw: proxy.thaw,
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

async function flush(server: URL): Promise<void> {
  const redis = new Redis(server.href);
  await redis.flushdb();
  redis.disconnect();
}

async function startProgram(): Promise<TestRedis> {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-redis-"));
  const port = await freePort();
  let server = await start(port, folder);
  const kill = async (): Promise<void> => {
    if (hasEnded(server)) return;
    const exited = once(server, "exit");
    server.kill("SIGKILL");
    await exited;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    async restart() {
      await kill();
      server = await start(port, folder);
    },
    freeze: () => void server.kill("SIGSTOP"),
    thaw: () => void server.kill("SIGCONT"),
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function start(port: number, folder: string): Promise<ChildProcess> {
  const server = spawn(
    "redis-server",
    ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder],
    { stdio: "ignore" },
  );
  // A test that fails before its clean-up must not leave the server behind.
  const killServer = (): boolean => server.kill("SIGKILL");
  process.once("exit", killServer);
  server.once("exit", () => process.off("exit", killServer));
  const missing = once(server, "error").then(([cause]) => {
    throw new Error("redis-server cannot be started", { cause });
  });
  await Promise.race([missing, listening(server, port)]);
  return server;
}

const hasEnded = (server: ChildProcess): boolean =>
  server.pid === undefined || server.exitCode !== null || server.signalCode !== null;

async function listening(server: ChildProcess, port: number): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (await accepts(port)) return;
    if (server.pid !== undefined && hasEnded(server)) break;
    await sleep(POLL_MS);
  }
  throw new Error(`redis-server does not listen on port ${port}`);
}

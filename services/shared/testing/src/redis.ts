import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { freePort } from "./free-port.ts";

export type TestRedis = AsyncDisposable & {
  readonly url: string;
  /** Ends the server as a crash does. */
  readonly kill: () => Promise<void>;
  /** Starts it again, empty, on the same port. */
  readonly restart: () => Promise<void>;
  /** It takes connections and says nothing until it is thawed. */
  readonly freeze: () => void;
  readonly thaw: () => void;
};

const START_TIMEOUT_MS = 30_000;
const POLL_MS = 20;

/** A real redis-server for one test file. It never skips: without the program the test fails. */
export async function testRedis(): Promise<TestRedis> {
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
  // A test that fails before it can clean up must not leave it behind.
  const killServer = (): boolean => server.kill("SIGKILL");
  process.once("exit", killServer);
  server.once("exit", () => process.off("exit", killServer));
  const missing = once(server, "error").then(([cause]) => {
    throw new Error("redis-server is needed for this test (Debian's package redis-server)", {
      cause,
    });
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

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, open, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { startArgs } from "../stack/process.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const MAIN = "deploy/standalone/src/main.ts";
const READY_MS = 180_000;
const STOP_MS = 30_000;

export type Standalone = AsyncDisposable & {
  readonly pid: number;
  readonly port: number;
  /** The variables of `keys.env`. */
  readonly keys: Readonly<Record<string, string>>;
};

export type StandaloneOptions = {
  readonly databaseUrl: string;
  readonly dataDir: string;
  /** Arguments of Node, for a profile. */
  readonly nodeArgs?: readonly string[];
  /** Default: `SCRIP_WORKERS`, else one: benchmarks measure one process unless they are asked for more. */
  readonly workers?: number;
  /** The root of another checkout, to compare with. */
  readonly checkout?: string;
};

/** Starts Scrip as `npm start` does, in a process of its own, on this database. */
export async function startStandalone(options: StandaloneOptions): Promise<Standalone> {
  const {
    databaseUrl,
    dataDir,
    workers = process.env["SCRIP_WORKERS"] ?? 1,
    checkout = ROOT,
  } = options;
  await mkdir(dataDir, { recursive: true });
  const port = await freePort();
  const logFile = path.join(dataDir, "standalone.log");
  const log = await open(logFile, "a");
  const child = spawn(
    process.execPath,
    [...startArgs(checkout), ...(options.nodeArgs ?? []), path.join(checkout, MAIN)],
    {
      cwd: checkout,
      env: {
        ...process.env,
        SCRIP_WORKERS: String(workers),
        DATABASE_URL: databaseUrl,
        SCRIP_PORT: String(port),
        SCRIP_DATA_DIR: dataDir,
        SCRIP_LIMIT_CALLS_PER_MINUTE: "0",
        SCRIP_LIMIT_BULK_PER_HOUR: "0",
        SCRIP_LIMIT_CLIENT_PER_5_SECONDS: "0",
        SCRIP_LIMIT_CODE_MISSES: "0",
        SCRIP_LIMIT_SERVER_CODE_MISSES: "0",
        SCRIP_LIMIT_KEY_CODE_MISSES: "0",
      },
      stdio: ["ignore", log.fd, log.fd],
    },
  );
  await log.close();
  try {
    await waitUntilReady(child, port);
  } catch (error) {
    child.kill("SIGKILL");
    const text = await readFile(logFile, "utf8");
    throw new Error(`${String(error)}\n${text.slice(-4_000)}`, { cause: error });
  }
  return {
    pid: child.pid ?? 0,
    port,
    keys: parseKeys(await readFile(path.join(dataDir, "keys.env"), "utf8")),
    [Symbol.asyncDispose]: () => stop(child),
  };
}

async function waitUntilReady(child: ChildProcess, port: number): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error("the standalone process ended while it started");
    }
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    const body = (await response?.json()) as { readonly status?: string } | undefined;
    if (body?.status === "ready") return;
    await sleep(50);
  }
  throw new Error(`the standalone process was not ready within ${READY_MS / 1000} s`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await exited;
  clearTimeout(timer);
}

const parseKeys = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/^(?:export )?(\w+)=['"]?([^'"\n]*)/gm)].map(([, name, value]) => [
      name,
      value,
    ]),
  );

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

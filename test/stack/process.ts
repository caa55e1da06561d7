import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

export const ROOT = path.resolve(import.meta.dirname, "../..");

export type RunningProcess = AsyncDisposable & {
  readonly pid: number;
  /** Everything it wrote so far. */
  readonly output: () => string;
  /** Ends it without a chance to say goodbye. */
  readonly kill: () => Promise<void>;
};

export type ProcessOptions = {
  readonly main: string;
  readonly env: Readonly<Record<string, string>>;
  /** Answers whether it is up. */
  readonly ready: () => Promise<boolean>;
};

const START_MS = 30_000;

/** What one process has compiled the next need not: together they start in little more than half the time. */
const COMPILED = path.join(tmpdir(), "scrip-compiled");

/** Starts a real process of ours and waits until it is ready. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const child = spawn(process.execPath, [options.main], {
    cwd: ROOT,
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: COMPILED, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // A test that fails before it can clean up must not leave processes behind.
  const killChild = (): boolean => child.kill("SIGKILL");
  process.once("exit", killChild);
  child.once("exit", () => process.off("exit", killChild));
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const deadline = Date.now() + START_MS;
  while (!(await options.ready().catch(() => false))) {
    if (child.exitCode !== null) throw new Error(`${options.main} ended:\n${output}`);
    if (Date.now() > deadline) throw new Error(`${options.main} is not ready:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    pid: child.pid ?? 0,
    output: () => output,
    kill: () => end(child, "SIGKILL"),
    [Symbol.asyncDispose]: () => end(child, "SIGTERM"),
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

/** A port that was free a moment ago, for processes that must know each other's before they start. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  return address.port;
}

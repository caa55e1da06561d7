import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import path from "node:path";

import { COMPILE_CACHE } from "@scrip/testing/compile-cache";

export const ROOT = path.resolve(import.meta.dirname, "../..");

export type RunningProcess = AsyncDisposable & {
  readonly pid: number;
  /** Kills the process with SIGKILL. */
  readonly kill: () => Promise<void>;
};

export type ProcessOptions = {
  readonly main: string;
  /** The folder of the code. Default: this checkout. */
  readonly checkout?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Further arguments of Node. */
  readonly nodeArgs?: readonly string[] | undefined;
  /** The file that its output is appended to. */
  readonly log: string;
  /** Returns whether the process is ready. */
  readonly ready: () => Promise<boolean>;
};

/** The arguments of Node of `npm start`, of this checkout or of another one. The image has the same. */
export function startArgs(checkout = ROOT): readonly string[] {
  const manifest = readFileSync(path.join(checkout, "package.json"), "utf8");
  const { scripts } = JSON.parse(manifest) as { readonly scripts: { readonly start: string } };
  return scripts.start.split(" ").filter((word) => word.startsWith("--"));
}

/** Generous: even on a busy machine only a hanging process takes this long. */
const START_TIMEOUT_MS = 50_000;

const EXIT_WITH_PARENT = path.join(import.meta.dirname, "exit-with-parent.ts");

const children = new Set<ChildProcess>();
// A test that fails before it can clean up must not leave processes behind.
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

/** Starts one of the repository's entry points as a process, and waits until it is ready. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const { main, log, checkout = ROOT } = options;
  const output = openSync(log, "a");
  const child = spawn(
    process.execPath,
    [...startArgs(checkout), ...(options.nodeArgs ?? []), "--import", EXIT_WITH_PARENT, main],
    {
      cwd: checkout,
      env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: COMPILE_CACHE, ...options.env },
      stdio: ["ignore", output, output],
    },
  );
  closeSync(output);
  children.add(child);
  child.once("exit", () => children.delete(child));
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await options.ready().catch(() => false))) {
    if (hasEnded(child)) throw new Error(`${main} ended:\n${readFileSync(log, "utf8")}`);
    if (Date.now() > deadline) {
      await end(child, "SIGKILL");
      throw new Error(`${main} is not ready:\n${readFileSync(log, "utf8")}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    pid: child.pid ?? 0,
    kill: () => end(child, "SIGKILL"),
    [Symbol.asyncDispose]: () => end(child, "SIGTERM"),
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

const hasEnded = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null;

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { COMPILE_CACHE } from "@scrip/testing/compile-cache";
import { expect, vi } from "vitest";

const MAIN = path.join(import.meta.dirname, "../src/main.ts");

/** Only a process that hangs takes this long, however busy the machine is. */
export const PATIENCE = { timeout: 60_000 };

const started = new Set<ChildProcess>();

/** Ends the processes of failed tests; their databases end with them. */
export function killStarted(): void {
  for (const child of started) child.kill("SIGKILL");
}

export type Running = Awaited<ReturnType<typeof run>>;

type Env = Readonly<Record<string, string>>;

export function start(env: Env) {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.add(child);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return { child, output: () => output };
}

export async function run(env: Env) {
  const { child, output } = start(env);
  // Hooks cannot use `expect.poll`.
  await vi.waitFor(() => expect(output()).toContain("Ctrl-C stops it."), PATIENCE);
  return {
    pid: child.pid,
    output,
    async stop(signal: NodeJS.Signals) {
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
      return child.exitCode;
    },
  };
}

export async function ended(env: Env): Promise<{ code: number | null; output: string }> {
  const { child, output } = start(env);
  await once(child, "exit");
  return { code: child.exitCode, output: output() };
}

export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-standalone-"));
  return {
    path: folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 20 }),
  };
}

/** The URL of the embedded database of a folder. */
export async function embeddedUrl(folder: string): Promise<string> {
  const pidFile = await readFile(path.join(folder, "postgres/postmaster.pid"), "utf8");
  const password = await readFile(path.join(folder, "postgres.password"), "utf8");
  return `postgres://scrip:${password}@127.0.0.1:${pidFile.split("\n")[3]}/postgres`;
}

export const readerOf =
  (keys: string) =>
  (name: string): string =>
    new RegExp(`${name}='([^']*)'`).exec(keys)?.[1] ?? "";

export async function token(keys: string): Promise<Response> {
  const get = readerOf(keys);
  return fetch(`${get("SCRIP_BASE_URL")}/v1/oauth/token`, {
    method: "POST",
    headers: { "x-app-id": get("SCRIP_APP_ID"), "x-app-token": get("SCRIP_APP_TOKEN") },
    body: new URLSearchParams({ grant_type: "client_credentials", scope: "api" }),
  });
}

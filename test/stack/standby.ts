import { appendFile, chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { type EmbeddedPostgres, startEmbeddedPostgres } from "@scrip/embedded-postgres";

import { baseBackup, writeAsOwner } from "./base-backup.ts";

export type StandbyPair = AsyncDisposable & {
  readonly primaryUrl: string;
  readonly standbyUrl: string;
};

/** A PostgreSQL and a streaming standby of it. */
export async function startStandbyPair(): Promise<StandbyPair> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-standby-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  // The account that runs the servers enters it.
  await chmod(folder, 0o755);
  const [source, copy] = [path.join(folder, "primary"), path.join(folder, "standby")];
  const primary = parts.use(await startEmbeddedPostgres({ dataDir: source }));
  await baseBackup(primary.url, source, copy);
  const standby = parts.use(await startStandby(primary.url, copy));
  const running = parts.move();
  return {
    primaryUrl: primary.url,
    standbyUrl: standby.url,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function startStandby(primaryUrl: string, dataDir: string): Promise<EmbeddedPostgres> {
  const { hostname, port, username, password } = new URL(primaryUrl);
  const data = path.join(dataDir, "postgres");
  await appendFile(
    path.join(data, "postgresql.auto.conf"),
    [
      `primary_conninfo = 'host=${hostname} port=${port} user=${username} password=${password}'`,
      // A statement that conflicts with the replay is cancelled immediately.
      "max_standby_streaming_delay = 0",
      "",
    ].join("\n"),
  );
  await writeAsOwner(path.join(data, "standby.signal"), "");
  return startEmbeddedPostgres({ dataDir });
}

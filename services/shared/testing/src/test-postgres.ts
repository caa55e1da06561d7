import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { asAdmin } from "./admin.ts";

export type TestPostgres = AsyncDisposable & { readonly url: string };

/** Asking for an engine that is not there must not hold up every test run. */
const DOCKER_TIMEOUT_MS = 3_000;

/** The major version that Scrip brings for standalone use. */
const IMAGE = "postgres:18-alpine";

/**
 * A real PostgreSQL: the one that TEST_POSTGRES_URL names, else a container when a Docker engine can
 * run one, else the embedded one in a folder that is thrown away.
 */
export async function startTestPostgres(): Promise<TestPostgres> {
  const url = process.env["TEST_POSTGRES_URL"];
  if (url) return { url, [Symbol.asyncDispose]: async () => {} };
  if (await dockerAnswers()) {
    try {
      return await startContainer();
    } catch (error) {
      // An engine that cannot fetch the image is no reason to test nothing.
      console.warn(`No Postgres container: ${String(error)}. The embedded one is used instead.`);
    }
  }
  return startEmbedded();
}

async function dockerAnswers(): Promise<boolean> {
  const version = promisify(execFile)("docker", ["version", "--format", "{{.Server.Version}}"], {
    timeout: DOCKER_TIMEOUT_MS,
  });
  return version.then(
    () => true,
    () => false,
  );
}

async function startContainer(): Promise<TestPostgres> {
  const { PostgreSqlContainer } = await import("@testcontainers/postgresql");
  const container = await new PostgreSqlContainer(IMAGE).start();
  await stopWaitingForDisk(container.getConnectionUri());
  return {
    url: container.getConnectionUri(),
    [Symbol.asyncDispose]: async () => {
      await container.stop();
    },
  };
}

async function startEmbedded(): Promise<TestPostgres> {
  const { startEmbeddedPostgres } = await import("@scrip/embedded-postgres");
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-postgres-"));
  parts.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  const { url } = parts.use(await startEmbeddedPostgres({ dataDir: folder }));

  await stopWaitingForDisk(url);

  const running = parts.move();
  return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/**
 * What is committed is lost when the machine fails, and no sooner: tests kill processes, of Postgres
 * too, but never the machine. Many small databases and commits take half the time.
 */
async function stopWaitingForDisk(url: string): Promise<void> {
  await asAdmin(url, async (client) => {
    for (const setting of ["fsync", "full_page_writes"]) {
      await client.query(`alter system set ${setting} = off`);
    }
    await client.query("select pg_reload_conf()");
  });
}

import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { asAdmin } from "./admin.ts";
import { hasDocker } from "./optional-servers.ts";

export type TestPostgres = AsyncDisposable & { readonly url: string };

/** The major version that Scrip installs for standalone use. */
const IMAGE = "postgres:18-alpine";

/**
 * A real PostgreSQL: the server of TEST_POSTGRES_URL, else a container if Docker responds, else the
 * embedded server in a temporary folder.
 */
export async function startTestPostgres(): Promise<TestPostgres> {
  const url = process.env["TEST_POSTGRES_URL"];
  if (url) return { url, [Symbol.asyncDispose]: async () => {} };
  if (hasDocker()) {
    try {
      return await startContainer();
    } catch (error) {
      // Without the image the tests still run.
      console.warn(
        `The PostgreSQL container does not start (${String(error)}); using the embedded server.`,
      );
    }
  }
  return startEmbedded();
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
  // As root, the account that runs the server must be able to enter the folder.
  await chmod(folder, 0o755);
  const { url } = parts.use(await startEmbeddedPostgres({ dataDir: folder }));

  await stopWaitingForDisk(url);

  const running = parts.move();
  return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/**
 * Tests kill processes, also those of PostgreSQL, but never the machine, so commits need not wait for
 * the disk. This halves the time of many small databases and commits.
 */
async function stopWaitingForDisk(url: string): Promise<void> {
  await asAdmin(url, async (client) => {
    for (const setting of ["fsync", "full_page_writes"]) {
      await client.query(`alter system set ${setting} = off`);
    }
    await client.query("select pg_reload_conf()");
  });
}

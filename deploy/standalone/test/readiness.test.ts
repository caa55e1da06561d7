import { execFileSync } from "node:child_process";
import { openSync, writeSync, closeSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { asAdmin } from "@scrip/testing";
import { expect, test, vi } from "vitest";

import { startStandalone } from "../src/standalone.ts";
import { readerOf, token } from "./processes.ts";

vi.setConfig({ testTimeout: 180_000 });

/** Each service checks its own schema, through its own role. */
const DEPENDENCIES = ["gateway", "loyalty", "campaign", "voucher", "validation", "export"];

test("/readyz names why the database takes no writes, and recovers without a restart", async (context) => {
  await using parts = new AsyncDisposableStack();
  const disk = await smallDisk(parts);
  if (disk === undefined && process.env["CI"] !== "true") {
    context.skip("this user may not mount a small disk");
    return;
  }
  const folder = disk ?? "";
  const scrip = parts.use(
    await startStandalone(
      { SCRIP_DATA_DIR: folder, SCRIP_PORT: "0", SCRIP_WORKERS: "1", SCRIP_LOG_LEVEL: "silent" },
      { progress: () => {}, stop: new AbortController().signal },
    ),
  );
  const get = async (target: string) => {
    const response = await fetch(scrip.url + target);
    return [response.status, await response.json()];
  };
  const keys = await readFile(path.join(folder, "keys.env"), "utf8");
  const { access_token: accessToken } = (await (await token(keys)).json()) as {
    access_token: string;
  };
  const headers = {
    "x-app-id": readerOf(keys)("SCRIP_APP_ID"),
    "x-app-token": readerOf(keys)("SCRIP_APP_TOKEN"),
    authorization: `Bearer ${accessToken}`,
  };
  const becomesUnready = async (reason: string) => {
    const failures = DEPENDENCIES.map((dependency) => ({ dependency, reason }));
    await expect.poll(() => get("/readyz")).toEqual([503, { status: "not ready", failures }]);
    expect(await get("/livez")).toEqual([200, { status: "alive" }]);
  };
  const becomesReady = () => expect.poll(() => get("/readyz")).toEqual([200, { status: "ready" }]);
  await becomesReady();

  // Every byte of the disk is taken, as by a log file.
  fill(path.join(folder, "filler"));
  await becomesUnready("disk_full");
  await rm(path.join(folder, "filler"));
  await becomesReady();

  await admin(folder, "alter schema voucher rename to missing");
  // The other services still serve.
  const failures = [{ dependency: "voucher", reason: "schema_missing" }];
  await expect.poll(() => get("/readyz")).toEqual([200, { status: "degraded", failures }]);
  const unserved = await fetch(`${scrip.url}/v1/vouchers/ANY`, { headers });
  expect(unserved.status, await unserved.text()).toBe(503);
  expect(unserved.headers.get("retry-after")).toMatch(/^\d+$/);
  await admin(folder, "alter schema missing rename to voucher");
  await becomesReady();

  await admin(folder, "alter database postgres set default_transaction_read_only = on");
  await admin(folder, END_SESSIONS);
  await becomesUnready("read_only");
  await admin(folder, "set transaction read write; alter database postgres reset all");
  await admin(folder, END_SESSIONS);
  await becomesReady();

  // A failover to a standby that is not promoted yet.
  await writeFile(path.join(folder, "postgres/standby.signal"), "");
  process.kill(await serverPid(folder), "SIGKILL");
  await becomesUnready("read_only");
  await admin(folder, "select pg_promote()");
  await becomesReady();
});

const END_SESSIONS =
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'postgres' and pid <> pg_backend_pid()";

const SIZE = "160m";

/** The folder of a small file system in memory; undefined where this user may not mount it. */
async function smallDisk(parts: AsyncDisposableStack): Promise<string | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-small-disk-"));
  parts.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  try {
    asRoot("mount", "-t", "tmpfs", "-o", `size=${SIZE},mode=1777`, "tmpfs", folder);
  } catch {
    return undefined;
  }
  // Lazily: a process that ends may still have files open.
  parts.defer(() => asRoot("umount", "--lazy", folder));
  return folder;
}

function asRoot(program: string, ...args: readonly string[]): void {
  const command = process.getuid?.() === 0 ? [program, ...args] : ["sudo", "-n", program, ...args];
  execFileSync(command[0] ?? "", command.slice(1), { stdio: "pipe" });
}

function fill(file: string): void {
  const descriptor = openSync(file, "w");
  try {
    for (const size of [1 << 20, 1 << 12]) {
      const chunk = Buffer.alloc(size, 1);
      try {
        for (;;) writeSync(descriptor, chunk);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    }
  } finally {
    closeSync(descriptor);
  }
}

async function serverPid(folder: string): Promise<number> {
  const text = await readFile(path.join(folder, "postgres/postmaster.pid"), "utf8");
  return Number(text.split("\n")[0]);
}

/** Runs statements as the owner of the embedded database. */
async function admin(folder: string, text: string): Promise<void> {
  const pidFile = await readFile(path.join(folder, "postgres/postmaster.pid"), "utf8");
  const password = await readFile(path.join(folder, "postgres.password"), "utf8");
  const url = `postgres://scrip:${password}@127.0.0.1:${pidFile.split("\n")[3]}/postgres`;
  await asAdmin(url, (client) => client.query(text));
}

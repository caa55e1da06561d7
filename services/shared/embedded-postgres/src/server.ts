import { once } from "node:events";
import { readFile, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { adviceFor, type Cluster } from "./cluster.ts";
import { complaintOf, diskFullMessage, isDiskFull } from "./complaints.ts";
import { DataFolderError } from "./data-folder-error.ts";
import { isRunning } from "./lock.ts";
import { runAs } from "./programs.ts";

export const pidFileOf = ({ data }: Pick<Cluster, "data">): string =>
  path.join(data, "postmaster.pid");

/** The port of a server that accepts connections; undefined while it starts or stops, or without a server. */
export async function readPort(data: string): Promise<number | undefined> {
  const text = await readFile(pidFileOf({ data }), "utf8").catch(() => "");
  const lines = text.split("\n").map((line) => line.trim());
  return lines[STATUS_LINE] === "ready" ? Number(lines[PORT_LINE]) : undefined;
}

/** Counted from 0, as PostgreSQL writes them (miscadmin.h). */
const PORT_LINE = 3;
const STATUS_LINE = 7;

export type RunningServer = { readonly port: number; readonly pid: number };

/** Starts the server, on a free port unless one is provided, and waits until it accepts connections. */
export async function startServer(
  cluster: Cluster,
  options: { readonly port?: number; readonly stop?: AbortSignal | undefined },
): Promise<RunningServer> {
  const log = await openLog(cluster);
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    const from = (await stat(log).catch(() => undefined))?.size ?? 0;
    try {
      await launch(cluster, { port, log, stop: options.stop });
      return { port, pid: Number(await firstLine(pidFileOf(cluster))) };
    } catch (cause) {
      options.stop?.throwIfAborted();
      const output = (await textFrom(log, from)) || complaintOf(cause);
      if (attempt === MAX_ATTEMPTS || !TEMPORARY.test(output))
        throw startError(cluster, output, cause);
      await sleep(RETRY_MS);
    }
  }
}

/**
 * Stops the server with a fast shutdown, which ends its sessions and flushes everything. Also stops
 * the server that a killed process left behind; does nothing without a server.
 */
export async function stopServer(cluster: Cluster): Promise<void> {
  const { data, folder, account, programs } = cluster;
  const pid = Number(await firstLine(pidFileOf(cluster)));
  if (!(await isServer(pid, data))) {
    // A crash left this file behind. PostgreSQL would refuse to start while any process has the number in it.
    await rm(pidFileOf(cluster), { force: true });
    return;
  }
  try {
    const common = [`--pgdata=${data}`, "--wait", `--timeout=${STOP_TIMEOUT_S}`];
    await runAs(account, programs.pgCtl, ["stop", "--mode=fast", ...common]).catch(() =>
      // Committed data is not lost; the next start recovers it from the write-ahead log.
      runAs(account, programs.pgCtl, ["stop", "--mode=immediate", ...common]),
    );
  } catch (cause) {
    if ((await firstLine(pidFileOf(cluster))) === "") return;
    throw new DataFolderError(
      `The PostgreSQL of ${folder} (process ${pid}) does not stop: ${complaintOf(cause)}`,
      { cause },
    );
  }
}

const STOP_TIMEOUT_S = 30;
const MAX_ATTEMPTS = 10;
const RETRY_MS = 300;

/** Another program took the port, or the sessions of a killed server are still ending. */
const TEMPORARY =
  /could not bind|could not create any TCP|shared memory block|starting up|shutting down/;

function launch(
  { data, account, programs }: Cluster,
  { port, log, stop }: { port: number; log: string; stop: AbortSignal | undefined },
): Promise<string> {
  // No socket files: their folder would be shared with every other user of the machine.
  const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories="];
  const args = [
    "start",
    `--pgdata=${data}`,
    "--wait",
    "--timeout=100",
    `--log=${log}`,
    `--options=${settings.map((setting) => `-c ${setting}`).join(" ")}`,
  ];
  return runAs(account, programs.pgCtl, args, stop);
}

const MAX_LOG_BYTES = 10 * 1024 * 1024;

async function openLog({ data }: Cluster): Promise<string> {
  const log = path.join(data, "server.log");
  const found = await stat(log).catch(() => undefined);
  if (found !== undefined && found.size > MAX_LOG_BYTES) await rename(log, `${log}.1`);
  return log;
}

function startError({ folder, location, data }: Cluster, output: string, cause: unknown) {
  if (isDiskFull(output)) return new DataFolderError(diskFullMessage(location), { cause });
  const lines = output.trim().split("\n").slice(-LAST_LINES).join("\n  ");
  return new DataFolderError(
    `The database in ${data} does not start:\n  ${lines}\n${adviceFor(folder)}`,
    { cause },
  );
}

const LAST_LINES = 5;

/** Whether the process is the server of this folder, not a later process with the same number. */
async function isServer(pid: number, data: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  if (process.platform !== "linux") return isRunning(pid);
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(data));
  } catch (error) {
    if (!["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
  }
  // In a container, root may not see the folders of other users' processes, only their names.
  const name = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "");
  return name.trim() === "postgres";
}

async function firstLine(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n")[0]?.trim() ?? "";
}

async function textFrom(file: string, from: number): Promise<string> {
  const bytes = await readFile(file).catch(() => Buffer.alloc(0));
  return bytes.subarray(from).toString("utf8");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  return address.port;
}

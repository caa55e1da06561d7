import { setTimeout as sleep } from "node:timers/promises";

import type { Cluster } from "./cluster.ts";
import { isRunning, startOf } from "./lock.ts";
import { pidFileOf, type RunningServer, startServer, stopServer } from "./server.ts";
import { watchServer } from "./watchdog.ts";

/** The server is not a child of this process, so its end is polled. */
const POLL_MS = 250;
/**
 * After this many polls, checks that the process is still the server; the system does not reuse a process number
 * sooner.
 */
const POLLS_PER_CHECK = 20;

/** A full disk or a damaged file does not recover within milliseconds. */
const RETRY_MS = 5_000;

/**
 * Restarts the server on its port whenever it ends before this process: after a crash or a kill.
 * Clients lose their connections, but no committed data.
 */
export function keepServer(
  cluster: Cluster,
  server: RunningServer,
  warn: (message: string) => void,
): AsyncDisposable {
  const stop = new AbortController();
  const kept = keep(cluster, server, { warn, stop: stop.signal });
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await kept;
    },
  };
}

type Keeping = { readonly warn: (message: string) => void; readonly stop: AbortSignal };

async function keep(cluster: Cluster, first: RunningServer, keeping: Keeping): Promise<void> {
  let server: RunningServer | undefined = first;
  while (server !== undefined) {
    const watchdog = watchServer(pidFileOf(cluster), server.pid);
    await untilEnd(server.pid, keeping.stop);
    watchdog[Symbol.dispose]();
    if (keeping.stop.aborted) return;
    keeping.warn(
      `The PostgreSQL of ${cluster.folder} (process ${server.pid}) has ended; Scrip starts it again`,
    );
    server = await restart(cluster, first.port, keeping);
  }
}

async function untilEnd(pid: number, stop: AbortSignal): Promise<void> {
  const born = await startOf(pid);
  for (let polls = 1; !stop.aborted && isRunning(pid); polls += 1) {
    if (polls % POLLS_PER_CHECK === 0 && (await startOf(pid)) !== born) return;
    await pause(POLL_MS, stop);
  }
}

/** Returns undefined if it was cancelled before it succeeded. */
async function restart(
  cluster: Cluster,
  port: number,
  { warn, stop }: Keeping,
): Promise<RunningServer | undefined> {
  while (!stop.aborted) {
    try {
      // Removes the files that the crash left behind.
      await stopServer(cluster);
      const server = await startServer(cluster, { port, stop });
      warn(`The PostgreSQL of ${cluster.folder} runs again (process ${server.pid})`);
      return server;
    } catch (error) {
      if (!stop.aborted) warn(String(error));
      await pause(RETRY_MS, stop);
    }
  }
  return undefined;
}

/** Ends early when cancelled, and does not keep the process alive. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => {});

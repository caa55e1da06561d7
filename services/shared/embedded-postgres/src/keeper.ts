import { setTimeout as sleep } from "node:timers/promises";

import type { Cluster } from "./cluster.ts";
import { isRunning, startOf } from "./lock.ts";
import { pidFileOf, type RunningServer, startServer, stopServer } from "./server.ts";
import { watchServer } from "./watchdog.ts";

/** The server is nobody's child, so its end is looked for. */
const LOOK_MS = 250;

/** A disk that is full or a file that is damaged does not change within moments. */
const RETRY_MS = 5_000;

/**
 * Starts the server again on its port whenever it ends before we do: a crash, or an administrator's
 * kill. Whoever is connected loses the connection and nothing that was committed.
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
      `The PostgreSQL of ${cluster.folder} (process ${server.pid}) has ended; it is started again`,
    );
    server = await restart(cluster, first.port, keeping);
  }
}

async function untilEnd(pid: number, stop: AbortSignal): Promise<void> {
  const born = await startOf(pid);
  while (!stop.aborted && isRunning(pid) && (await startOf(pid)) === born) {
    await pause(LOOK_MS, stop);
  }
}

/** Answers nothing when it was stopped before it succeeded. */
async function restart(
  cluster: Cluster,
  port: number,
  { warn, stop }: Keeping,
): Promise<RunningServer | undefined> {
  while (!stop.aborted) {
    try {
      // Removes what the crash left.
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

/** Ends early when it is stopped, and does not keep the process. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => {});

import { setTimeout as sleep } from "node:timers/promises";

import { ConfigError } from "@scrip/config";

/** How long an interrupted start may take to complete before the process exits. */
const GRACE_MS = 2_000;

/** npm may deliver one Ctrl-C twice: from the terminal, and forwarded. */
const SAME_STOP_MS = 1_000;

export type RunOptions<Running> = {
  readonly onReady?: (running: Running) => void;
  readonly onStop?: () => void;
  /** The message for a failed start; undefined prints the whole error. */
  readonly explain?: (error: unknown) => string | undefined;
};

/**
 * Runs a process: starts, waits for SIGTERM or SIGINT, and closes what was started. A signal during
 * the start ends it too, even when it hangs. A second signal exits immediately.
 */
export async function runUntilStopped<Running extends AsyncDisposable>(
  start: (stop: AbortSignal) => Promise<Running>,
  { onReady, onStop, explain }: RunOptions<Running> = {},
): Promise<void> {
  const stop = stopSignal();
  const stopped = new Promise<undefined>((resolve) => {
    stop.addEventListener("abort", () => {
      onStop?.();
      resolve(undefined);
    });
  });
  try {
    const starting = start(stop);
    const running = await Promise.race([starting, stopped]);
    if (running === undefined) {
      await undo(starting);
      // Pending work, such as a connection attempt, would keep the process alive.
      process.exit();
    }
    onReady?.(running);
    await stopped;
    await running[Symbol.asyncDispose]();
  } catch (error) {
    const known =
      error instanceof ConfigError ? error.message : (explainPort(error) ?? explain?.(error));
    console.error(known ?? error);
    process.exitCode = 1;
  }
}

/** A port that is in use or not permitted, as a message for the terminal. */
function explainPort(error: unknown): string | undefined {
  const { syscall, code, address, port } = (error ?? {}) as NodeJS.ErrnoException & {
    readonly address?: string;
    readonly port?: number;
  };
  if (syscall !== "listen" || port === undefined) return undefined;
  const reason =
    code === "EADDRINUSE" ? "is in use by another program" : `cannot be used (${code})`;
  return `Port ${port} on ${address} ${reason}. Set SCRIP_PORT, or SCRIP_GRPC_PORT of npm start, to another port.`;
}

function stopSignal(): AbortSignal {
  const stop = new AbortController();
  let stoppedAt: number | undefined;
  const onSignal = (): void => {
    stoppedAt ??= performance.now();
    if (performance.now() - stoppedAt > SAME_STOP_MS) process.exit(1);
    stop.abort();
  };
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, onSignal);
  return stop.signal;
}

async function undo(starting: Promise<AsyncDisposable>): Promise<void> {
  const ended = starting.catch(() => undefined);
  const running = await Promise.race([ended, sleep(GRACE_MS, undefined)]);
  await running?.[Symbol.asyncDispose]();
}

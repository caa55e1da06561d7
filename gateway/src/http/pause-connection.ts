import type { ArrivedRequest } from "./request-context.ts";

/** Ends before the least `Retry-After`, so that it does not delay clients that wait. */
const PAUSE_MS = 800;

/**
 * Reads no further request from a connection whose request was rejected, for a while: clients that
 * ignore `Retry-After` would otherwise take the time that the rejection saves. Not behind a proxy,
 * whose connections carry requests of others.
 */
export function pauseConnection({ req, res }: Pick<ArrivedRequest, "req" | "res">): void {
  const { headers, socket } = req;
  const isProxied =
    headers["x-forwarded-for"] !== undefined ||
    headers.forwarded !== undefined ||
    headers.via !== undefined;
  if (isProxied) return;
  res.once("finish", () => {
    // Node first discards the rest of the body.
    setImmediate(() => {
      if (socket.destroyed) return;
      socket.pause();
      setTimeout(() => socket.resume(), PAUSE_MS).unref();
    });
  });
}

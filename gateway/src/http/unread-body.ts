import type { IncomingMessage } from "node:http";

/** Most clients read the response only after sending the whole body. */
const MAX_MS = 20_000;

/** A body of which less arrives in this time holds the connection without need. */
const CHECK_MS = 3_000;
const MIN_BYTES = 3_000;

/**
 * Ends a request whose response is written while its body still arrives. Node's own time limit does not help: it is
 * long enough for uploads of files.
 */
export function endUnreadBody(req: IncomingMessage): void {
  // The rest of most bodies has arrived already, and is parsed next.
  if (!req.complete) setImmediate(() => watchBody(req));
}

function watchBody(req: IncomingMessage): void {
  if (req.complete || req.destroyed) return;
  const { socket } = req;
  const endsAt = performance.now() + MAX_MS;
  let { bytesRead } = socket;
  const timer = setInterval(() => {
    const arrived = socket.bytesRead - bytesRead;
    bytesRead += arrived;
    if (!req.complete && arrived >= MIN_BYTES && performance.now() < endsAt) return;
    clearInterval(timer);
    if (!req.complete) req.destroy();
  }, CHECK_MS).unref();
}

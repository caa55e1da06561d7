import type { ClientHttp2Stream, Http2Session } from "node:http2";

import { Code, ConnectError } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";

/** Bytes of responses of one connection that this process has not read yet, unless its owner sets another number. */
const WINDOW_BYTES = 32 * 1024 * 1024;

/** Within a cluster a connection opens in milliseconds. Where packets are dropped, the system would try for two minutes. */
const CONNECT_MS = 2_500;

/** The code of calls whose connection was not opened in time. */
export const NOT_CONNECTED = "ERR_NOT_CONNECTED";

/** The connection to a service, and earlier ones that end. */
export class Sessions extends Http2SessionManager {
  readonly #prepared = new WeakSet<Http2Session>();
  readonly #windowBytes: number;

  constructor(
    [baseUrl, pings, options]: ConstructorParameters<typeof Http2SessionManager>,
    windowBytes = WINDOW_BYTES,
  ) {
    super(baseUrl, pings, options);
    this.#windowBytes = windowBytes;
  }

  override async request(
    ...request: Parameters<Http2SessionManager["request"]>
  ): Promise<ClientHttp2Stream> {
    const requested = super.request(...request);
    const timer = this.state() === "connecting" ? this.#limitConnecting() : undefined;
    const stream = await requested.finally(() => clearTimeout(timer));
    const { session } = stream;
    if (session !== undefined && !session.destroyed && !this.#prepared.has(session)) {
      this.#prepared.add(session);
      prepare(session, this.#windowBytes);
    }
    return stream;
  }

  #limitConnecting(): NodeJS.Timeout {
    return setTimeout(() => {
      if (this.state() === "connecting") this.abort(notConnected());
    }, CONNECT_MS);
  }
}

function notConnected(): ConnectError {
  const cause = Object.assign(new Error(`not connected within ${CONNECT_MS} ms`), {
    code: NOT_CONNECTED,
  });
  return ConnectError.from(cause, Code.Unavailable);
}

function prepare(session: Http2Session, windowBytes: number): void {
  // Connect drops its listener with a connection that no longer responds to pings. Its socket stays until the other end
  // resets it, for example when a process that hangs is killed: without a listener, that error would end this process.
  session.on("error", ignore);
  // With the default window, a large response would need an iteration of the event loop for each 64 KiB.
  session.setLocalWindowSize(windowBytes);
}

/** Calls report it, and the next one opens another connection. */
const ignore = (): void => {};

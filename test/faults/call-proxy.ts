import { once } from "node:events";
import {
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";

import { freePort } from "@scrip/testing/free-port";

/** What happens to a call: it is broken off, never returns, or its response is this many milliseconds late. */
export type CallFault = "fail" | "stall" | number;

/** An HTTP/2 proxy in front of one process. Its connection and its reports of health stay as they are. */
export type CallProxy = AsyncDisposable & {
  readonly port: number;
  /** When each call arrived, as `performance.now`. */
  readonly arrivals: readonly number[];
  /** Decides from now on what happens to each call. Default: nothing. */
  readonly impair: (decide: () => CallFault) => void;
};

const HEALTH = "/grpc.health.v1.Health/";
const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } =
  constants;

export async function startCallProxy(target: number): Promise<CallProxy> {
  const arrivals: number[] = [];
  const sessions = new Set<ServerHttp2Session>();
  let decide = (): CallFault => 0;
  const server = createServer();
  server.on("session", (session) => {
    const upstream = connect(`http://127.0.0.1:${target}`);
    sessions.add(session);
    session.on("close", () => {
      sessions.delete(session);
      upstream.destroy();
    });
    session.on("error", () => session.destroy());
    upstream.on("error", () => session.destroy()).on("close", () => session.destroy());
    session.on("stream", (stream, headers) => {
      stream.on("error", () => {});
      const isCall = !headers[":path"]?.startsWith(HEALTH);
      if (isCall) arrivals.push(performance.now());
      const fault = isCall ? decide() : 0;
      if (fault === "stall") return;
      if (fault === "fail") stream.close(NGHTTP2_INTERNAL_ERROR);
      else if (!upstream.destroyed) forward(stream, upstream.request(headers), fault);
    });
  });
  const port = await freePort();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    port,
    arrivals,
    impair: (next) => void (decide = next),
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

function forward(
  stream: ServerHttp2Stream,
  upstream: ReturnType<ReturnType<typeof connect>["request"]>,
  delayMs: number,
): void {
  let trailers: IncomingHttpHeaders = {};
  stream.pipe(upstream);
  stream.on("close", () => upstream.close(NGHTTP2_CANCEL));
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  upstream.on("trailers", (received: IncomingHttpHeaders) => (trailers = received));
  upstream.on("error", () => stream.close(NGHTTP2_INTERNAL_ERROR));
  upstream.on("close", () => {
    if (upstream.rstCode !== NGHTTP2_NO_ERROR) stream.close(upstream.rstCode);
  });
  upstream.on("response", (headers, flags) => {
    const respond = (): void => {
      if (stream.destroyed) return;
      const endStream = (flags & NGHTTP2_FLAG_END_STREAM) !== 0;
      stream.respond(headers, endStream ? { endStream } : { waitForTrailers: true });
      upstream.pipe(stream);
    };
    if (delayMs > 0) setTimeout(respond, delayMs);
    else respond();
  });
}

import {
  constants,
  Http2ServerRequest,
  Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";

import { parseTimeout } from "@connectrpc/connect/protocol-grpc";
import { toConnectError } from "@scrip/errors";
import { newRequestId } from "@scrip/ids";

import type { ServiceClaims } from "../auth/service-token.ts";
import { type CallBytes, countBody, createMessageBytes } from "./message-bytes.ts";
import { isPlainUnary, rejectStream, serveUnary, type UnaryMethod } from "./unary-call.ts";

/** Handles a request of Node, as Connect does. */
type Handle = (request: Http2ServerRequest, response: Http2ServerResponse) => void;
/** Handles the event `stream` of a server. */
export type HandleStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: string[],
) => void;
type Verify = (authorization: string | null) => Promise<ServiceClaims>;

/** Messages of the services that need no token are small. */
export const OPEN_SERVICE_LIMITS = { readMaxBytes: 16 * 1024 };

type Rejection = {
  readonly service: string;
  readonly method: string;
  readonly requestId: string;
  readonly error: unknown;
};

/** An RPC that needs a token. */
export type GuardedMethod = {
  readonly verify: Verify;
  /** Undefined for streams. */
  readonly unary: UnaryMethod | undefined;
};

/** The longest deadline of a call. Clients often set longer ones by default, which have no effect. */
export const MAX_TIMEOUT_MS = 10_000;

/**
 * Connect reads the whole message before it calls a handler, so anyone could fill the memory with unfinished
 * messages. A call without a valid token is therefore rejected before its body is read, and a body that does
 * not arrive in time ends its stream. The bytes of a caller's calls in progress are bounded. Connect serves streams, and
 * calls whose messages are compressed or JSON; the others are served here, which costs a fraction.
 */
export function guardBodies(
  handle: Handle,
  {
    methodAt,
    onReject,
  }: {
    /** By the path of the RPC; undefined for RPCs that need no token, and for unknown ones. */
    readonly methodAt: (path: string) => GuardedMethod | undefined;
    /** Called with guarded paths only. */
    readonly onReject: (rejection: Rejection) => void;
  },
): HandleStream {
  const messageBytes = createMessageBytes();
  // oxlint-disable-next-line max-params -- the signature is Node's
  return (stream, headers, _flags, rawHeaders) => {
    const toConnect = (bytes?: CallBytes): void => {
      limitTimeout(headers);
      const request = new Http2ServerRequest(stream, headers, {}, rawHeaders);
      const response = new Http2ServerResponse(stream);
      if (bytes !== undefined) countBody(bytes, request, response);
      handle(request, response);
    };
    stream.on("error", ignore);
    const { authorization = null } = headers;
    // As Connect finds a method: a query must not lead around this check.
    const [path = ""] = (headers[":path"] ?? "").split("?", 1);
    const guarded = methodAt(path);
    if (guarded === undefined) {
      toConnect();
      return;
    }
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), MAX_TIMEOUT_MS).unref();
    const stop = (): void => clearTimeout(timer);
    stream.once("end", stop).once("close", stop);
    const { verify, unary } = guarded;
    const serve = (claims: ServiceClaims): void => {
      if (stream.destroyed) return;
      const bytes = messageBytes(claims);
      if (unary !== undefined && isPlainUnary(headers)) {
        serveUnary(unary, { stream, headers, bytes }).catch(() =>
          stream.close(constants.NGHTTP2_INTERNAL_ERROR),
        );
      } else toConnect(bytes);
    };
    verify(authorization).then(serve, (error: unknown) => {
      const requestId = newRequestId();
      const [, service = "", method = ""] = path.split("/", 3);
      onReject({ service, method, requestId, error });
      rejectStream(stream, toConnectError(error, requestId));
    });
  };
}

/** Connect rejects deadlines that are longer than its limit. */
function limitTimeout(headers: IncomingHttpHeaders): void {
  const timeout = headers["grpc-timeout"]?.toString() ?? null;
  const { timeoutMs = 0 } = parseTimeout(timeout, Number.POSITIVE_INFINITY);
  if (timeoutMs > MAX_TIMEOUT_MS) headers["grpc-timeout"] = `${MAX_TIMEOUT_MS}m`;
}

/** Its event `close` follows. */
const ignore = (): void => {};

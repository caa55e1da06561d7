import {
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";

import { Code, ConnectError } from "@connectrpc/connect";
import type { Http2SessionManager } from "@connectrpc/connect-node";
import { codeFromHttpStatus, findTrailerError } from "@connectrpc/connect/protocol-grpc";

import { frame, messageIn, PREFIX_BYTES } from "../call/frame.ts";

export type UnaryRequest = {
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly message: Uint8Array;
  /** Undefined: the call has no deadline. */
  readonly timeoutMs: number | undefined;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal | undefined;
  /** The longest response. */
  readonly maxBytes: number;
};

export type UnaryResponse = {
  readonly headers: IncomingHttpHeaders;
  readonly message: Uint8Array;
};

/**
 * A unary call of gRPC. Connect's client does the same through a chain of asynchronous iterators, which costs several
 * times as much as the call itself (services/decisions/0067-unary-calls-without-iterators.md).
 */
export async function sendUnary(
  sessions: Pick<Http2SessionManager, "request">,
  request: UnaryRequest,
): Promise<UnaryResponse> {
  const { path, timeoutMs, signal } = request;
  if (signal?.aborted === true) throw callerLeft();
  if (timeoutMs !== undefined && timeoutMs <= 0) throw timedOut();
  const response = new PendingResponse(request.maxBytes);
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(() => response.fail(timedOut()), timeoutMs);
  const leave = (): void => response.fail(callerLeft());
  signal?.addEventListener("abort", leave);
  const headers = {
    "content-type": "application/grpc+proto",
    te: "trailers",
    ...request.headers,
    ...(timeoutMs !== undefined && { "grpc-timeout": `${Math.ceil(timeoutMs)}m` }),
  };
  const open = async (): Promise<void> => {
    const stream = await sessions.request("POST", path, headers, {});
    response.readFrom(stream);
    stream.end(frame(request.message));
  };
  open().catch((error: unknown) => response.fail(unavailable(error)));
  try {
    return await response.complete;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
  }
}

/** Collects the response of a stream, until it ends or fails. */
class PendingResponse {
  readonly complete: Promise<UnaryResponse>;
  readonly #maxBytes: number;
  readonly #resolve: (response: UnaryResponse) => void;
  readonly #reject: (error: ConnectError) => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #headers: IncomingHttpHeaders | undefined;
  #trailers: IncomingHttpHeaders | undefined;
  #stream: ClientHttp2Stream | undefined;
  #isSettled = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    const { promise, resolve, reject } = Promise.withResolvers<UnaryResponse>();
    this.complete = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  readFrom(stream: ClientHttp2Stream): void {
    this.#stream = stream;
    stream.on("error", (error) => this.fail(unavailable(error)));
    if (this.#isSettled) {
      stream.close(constants.NGHTTP2_CANCEL);
      return;
    }
    stream.on("response", (headers) => {
      this.#headers = headers;
    });
    stream.on("data", (chunk: Buffer) => this.#add(chunk));
    stream.on("trailers", (trailers) => {
      this.#trailers = trailers;
    });
    stream.on("end", () => this.#end());
    stream.on("close", () => {
      if (!this.#isSettled) this.fail(broken(stream.rstCode));
    });
  }

  fail(error: ConnectError): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#reject(error);
    this.#stream?.close(constants.NGHTTP2_CANCEL);
  }

  #add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > PREFIX_BYTES + this.#maxBytes) {
      this.fail(new ConnectError("the response is too large", Code.ResourceExhausted));
    }
  }

  #end(): void {
    const headers = this.#headers;
    if (this.#isSettled || headers === undefined) return;
    const error = errorOf(headers, this.#trailers ?? headers);
    const message = error === undefined ? messageIn(this.#chunks) : undefined;
    if (message === undefined) {
      this.fail(error ?? new ConnectError("the response has no message", Code.Internal));
      return;
    }
    this.#isSettled = true;
    this.#resolve({ headers, message });
  }
}

/** The error that a response reports, in its trailers or in its headers. */
function errorOf(
  headers: IncomingHttpHeaders,
  trailers: IncomingHttpHeaders,
): ConnectError | undefined {
  const status = Number(headers[":status"]);
  if (status !== constants.HTTP_STATUS_OK) {
    return new ConnectError(`HTTP ${status}`, codeFromHttpStatus(status));
  }
  if (trailers["grpc-status"] === "0") return undefined;
  const error =
    readError(toWeb(trailers)) ?? new ConnectError("the response has no status", Code.Internal);
  if (headers !== trailers)
    toWeb(headers).forEach((value, name) => error.metadata.append(name, value));
  return error;
}

/** Throws nothing: events call it. */
function readError(trailers: Headers): ConnectError | undefined {
  try {
    return findTrailerError(trailers);
  } catch (error) {
    return ConnectError.from(error, Code.Internal);
  }
}

function toWeb(headers: IncomingHttpHeaders): Headers {
  const web = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(":")) web.set(name, String(value));
  }
  return web;
}

const timedOut = (): ConnectError => new ConnectError("the call timed out", Code.DeadlineExceeded);

const callerLeft = (): ConnectError => new ConnectError("the caller has left", Code.Canceled);

/** The cause says whether the call was sent. */
const unavailable = (cause: unknown): ConnectError => ConnectError.from(cause, Code.Unavailable);

const broken = (rstCode: number): ConnectError =>
  new ConnectError(`the stream was closed with code ${rstCode}`, Code.Unavailable);

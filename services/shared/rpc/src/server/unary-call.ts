import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";

import { type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { parseTimeout, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { currentTime } from "@scrip/clock";
import { ApiError, type ErrorKey, toConnectError } from "@scrip/errors";
import { newRequestId } from "@scrip/ids";

import { fromBinaryInSteps, LONG_MESSAGE_BYTES, toBinaryInSteps } from "../call/binary-in-steps.ts";
import { frame, messageIn, PREFIX_BYTES } from "../call/frame.ts";
import type { ReceivedHeaders } from "../call/headers.ts";
import { runInterleaved, type WorkLimit } from "../concurrency/interleave.ts";
import type { CallBytes } from "./message-bytes.ts";

/** What a handler needs to know about a call; Connect's context has it too. */
export type CallContext = Pick<HandlerContext, "timeoutMs" | "signal"> & {
  readonly requestHeader: ReceivedHeaders;
  readonly responseHeader: Pick<Headers, "set">;
  /** The project of a heavy call, whose response is encoded in steps. */
  heavyFor?: string | undefined;
};

export type UnaryMethod = {
  readonly method: DescMethod;
  readonly handle: (request: Message, context: CallContext) => Promise<Message>;
  /** The longest request. */
  readonly maxBytes: number;
  /** The longest deadline of a call: callers may set longer ones, which have no effect. */
  readonly maxTimeoutMs: number;
};

const CONTENT_TYPE = "application/grpc+proto";
const PLAIN_TYPES: ReadonlySet<string | undefined> = new Set(["application/grpc", CONTENT_TYPE]);

/** Whether the messages of a call are protobuf and not compressed, as those of nearly all callers are. */
export function isPlainUnary(headers: IncomingHttpHeaders): boolean {
  const encoding = headers["grpc-encoding"] ?? "identity";
  return (
    headers[":method"] === "POST" &&
    encoding === "identity" &&
    PLAIN_TYPES.has(headers["content-type"])
  );
}

type Received = {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: CallBytes;
};

/** Serves one unary call of gRPC (services/decisions/0067-unary-calls-without-iterators.md). */
export async function serveUnary(
  { method, handle, maxBytes, maxTimeoutMs }: UnaryMethod,
  { stream, headers, bytes }: Received,
): Promise<void> {
  stream.once("close", bytes.release);
  const context = new Context(stream, headers);
  try {
    context.limit(maxTimeoutMs);
    const body = await readBody(stream, { maxBytes, bytes });
    const decoded = decode(method, body, stream);
    const request = decoded instanceof Promise ? await decoded : decoded;
    const response = await handle(request, context);
    if (stream.destroyed || stream.closed) return;
    const message =
      context.heavyFor === undefined
        ? toBinary(method.output, response)
        : await runInterleaved(
            toBinaryInSteps(method.output, response),
            limitOf(stream, context.heavyFor),
          );
    if (!stream.destroyed && !stream.closed) respond(stream, context, message);
  } catch (error) {
    rejectStream(stream, ConnectError.from(error, Code.Internal), context.responseHeaders);
  }
}

/** Work for a caller that is still there; its deadline closes the stream. */
const limitOf = (stream: ServerHttp2Stream, project: string): WorkLimit => ({
  project: { id: project },
  deadline: Number.POSITIVE_INFINITY,
  isAbandoned: () => stream.destroyed || stream.closed,
});

function decode(
  { input }: DescMethod,
  body: readonly Buffer[],
  stream: ServerHttp2Stream,
): Message | Promise<Message> {
  const message = messageIn(body);
  if (message === undefined) throw new ConnectError("expected one message", Code.Unimplemented);
  try {
    if (message.length < LONG_MESSAGE_BYTES) return fromBinary(input, message);
    const steps = fromBinaryInSteps(input, message);
    return Promise.resolve(runInterleaved(steps, limitOf(stream, ""))).catch(notValid);
  } catch (cause) {
    return notValid(cause);
  }
}

function notValid(cause: unknown): never {
  throw rejection(
    "invalid_payload",
    "The message is not the request of this RPC in protobuf",
    cause,
  );
}

/** An error in which the caller finds a key, as in the errors of handlers. */
const rejection = (key: ErrorKey, details: string, cause?: unknown): ConnectError =>
  toConnectError(new ApiError(key, { details, cause }), newRequestId());

function readBody(
  stream: ServerHttp2Stream,
  { maxBytes, bytes }: { readonly maxBytes: number; readonly bytes: CallBytes },
): Promise<readonly Buffer[]> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    stream.on("data", (chunk: Buffer) => {
      try {
        bytes.add(chunk.length);
      } catch (error) {
        reject(error);
      }
      chunks.push(chunk);
      length += chunk.length;
      if (length > PREFIX_BYTES + maxBytes) reject(tooLarge(maxBytes));
    });
    stream.on("end", () => resolve(chunks));
    stream.on("error", reject);
    stream.on("close", () => {
      if (!stream.readableEnded) reject(new ConnectError("the caller has left", Code.Canceled));
    });
  });
}

const tooLarge = (maxBytes: number): ConnectError =>
  rejection("payload_too_large", `A message may have ${maxBytes} bytes`);

function respond(
  stream: ServerHttp2Stream,
  { responseHeaders }: Context,
  message: Uint8Array,
): void {
  const headers = { ":status": 200, "content-type": CONTENT_TYPE, ...responseHeaders };
  stream.respond(headers, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(frame(message));
}

/** Ends a call with an error; the rest of a body is not read. */
export function rejectStream(
  stream: ServerHttp2Stream,
  error: ConnectError,
  responseHeaders: Readonly<Record<string, string>> = {},
): void {
  if (stream.destroyed || stream.closed || stream.headersSent) return;
  const trailers = setTrailerStatus(new Headers(), error);
  const headers = { ":status": 200, "content-type": CONTENT_TYPE, ...responseHeaders };
  stream.respond({ ...headers, ...Object.fromEntries(trailers) }, { endStream: true });
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
}

class Context implements CallContext {
  readonly responseHeaders: Record<string, string> = {};
  heavyFor: string | undefined;
  readonly requestHeader: ReceivedHeaders;
  readonly responseHeader = {
    set: (name: string, value: string): void => void (this.responseHeaders[name] = value),
  };
  readonly #stream: ServerHttp2Stream;
  #deadline: number | undefined;
  #signal: AbortSignal | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.#stream = stream;
    this.requestHeader = { get: (name) => headers[name]?.toString() ?? null };
  }

  /** Starts the time limit that the caller set. */
  limit(maxTimeoutMs: number): void {
    const { timeoutMs, error } = parseTimeout(
      this.requestHeader.get("grpc-timeout"),
      Number.POSITIVE_INFINITY,
    );
    if (error !== undefined) throw error;
    if (timeoutMs !== undefined) this.#deadline = currentTime() + Math.min(timeoutMs, maxTimeoutMs);
  }

  timeoutMs(): number | undefined {
    return this.#deadline === undefined ? undefined : this.#deadline - currentTime();
  }

  /** Aborted when the caller leaves or the time is over. Made on demand: few calls look at it. */
  get signal(): AbortSignal {
    return (this.#signal ??= this.#follow());
  }

  #follow(): AbortSignal {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return AbortSignal.abort();
    const left = this.timeoutMs();
    if (left !== undefined && left <= 0) return AbortSignal.abort();
    const ending = new AbortController();
    // Not `AbortSignal.timeout`, which takes whole milliseconds only: limits may be in microseconds.
    const timer = left === undefined ? undefined : setTimeout(() => ending.abort(), left);
    stream.once("close", () => {
      clearTimeout(timer);
      ending.abort();
    });
    return ending.signal;
  }
}

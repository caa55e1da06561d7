import type { ClientSessionOptions, SecureClientSessionOptions } from "node:http2";
import type { SecureContextOptions } from "node:tls";

import {
  create,
  type DescMessage,
  fromBinary,
  type Message,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

import { fromBinaryInSteps, LONG_MESSAGE_BYTES } from "../call/binary-in-steps.ts";
import { type Call, callKey } from "../call/call.ts";
import { pathOf } from "../call/frame.ts";
import { REPLAYED_HEADER, toHeaders } from "../call/headers.ts";
import { clientSpans, streamTraces } from "../call/traces.ts";
import { runInterleaved, UNLIMITED } from "../concurrency/interleave.ts";
import { Sessions } from "./sessions.ts";
import { sendUnary } from "./unary-call.ts";

/** Fits lists of vouchers with their orders; Connect's default is 4 GiB. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Streams carry millions of rows: more is not sent ahead of their reader. They have a connection of their own. */
const STREAM_WINDOW_BYTES = 1024 * 1024;

export type ServiceTransportOptions = {
  readonly baseUrl: string;
  /** The name of the called service: the audience of the service token. */
  readonly audience: string;
  readonly token: (audience: string) => Promise<string>;
  /** For `https`: the certificates, and the name that the server's certificate has. */
  readonly tls?: ClientTls | undefined;
};

export type ClientTls = SecureContextOptions & { readonly servername: string };

/** Nobody reads the headers of responses but this transport. */
const NO_HEADERS = new Headers();

/** gRPC over HTTP/2 to one service, with the call in the headers and a service token. */
export function createServiceTransport(options: ServiceTransportOptions): Transport & Disposable {
  // A process that is busy for some seconds is not dead. One that is, is noticed after six, while its calls have time left
  // to be repeated on another replica.
  const pings = { pingIntervalMs: 2_000, pingTimeoutMs: 4_000 };
  const { baseUrl, tls } = options;
  const sessions = new Sessions([baseUrl, pings, sessionOptions(tls, MAX_MESSAGE_BYTES)]);
  const streamSessions = new Sessions(
    [baseUrl, pings, sessionOptions(tls, STREAM_WINDOW_BYTES)],
    STREAM_WINDOW_BYTES,
  );
  return {
    unary: createUnary(options, sessions),
    stream: createStreams(options, streamSessions),
    [Symbol.dispose]() {
      sessions.abort();
      streamSessions.abort();
    },
  };
}

/** The certificates are read when a connection is opened. */
const sessionOptions = (
  tls: ClientTls | undefined,
  initialWindowSize: number,
): ClientSessionOptions & SecureClientSessionOptions =>
  Object.defineProperties(
    { settings: { initialWindowSize } },
    Object.getOwnPropertyDescriptors(tls ?? {}),
  );

function createUnary(
  { audience, token }: ServiceTransportOptions,
  sessions: Sessions,
): Transport["unary"] {
  const inSpan = clientSpans();
  // oxlint-disable-next-line max-params -- the signature is Connect's
  return async (method, signal, timeoutMs, header, input, contextValues) => {
    const call = contextValues?.get(callKey);
    const request: Message =
      "$typeName" in input ? (input as Message) : create(method.input, input);
    const noticeReplay = (replayed: unknown): void => {
      if (replayed !== undefined && replayed !== null) call?.onReplay?.();
    };
    try {
      const { headers, message } = await inSpan(method, call, async (trace) =>
        sendUnary(sessions, {
          path: pathOf(method),
          headers: {
            ...(header !== undefined && Object.fromEntries(new Headers(header))),
            authorization: `Bearer ${await token(audience)}`,
            ...(call !== undefined && toHeaders(call)),
            ...trace,
          },
          message: toBinary<DescMessage>(method.input, request),
          timeoutMs,
          signal,
          maxBytes: MAX_MESSAGE_BYTES,
        }),
      );
      noticeReplay(headers[REPLAYED_HEADER]);
      return {
        stream: false,
        service: method.parent,
        method,
        header: NO_HEADERS,
        trailer: NO_HEADERS,
        message:
          message.length < LONG_MESSAGE_BYTES
            ? fromBinary(method.output, message)
            : await decodeLong(method.output, message, call),
      };
    } catch (error) {
      // A rejection may be a replay as well.
      if (error instanceof ConnectError) noticeReplay(error.metadata.get(REPLAYED_HEADER));
      throw error;
    }
  };
}

/** A response may have taken effect, so it is decoded in any case. */
async function decodeLong<Output extends DescMessage>(
  output: Output,
  message: Uint8Array,
  call: Call | undefined,
): Promise<MessageShape<Output>> {
  const limit = { ...UNLIMITED, ...(call !== undefined && { project: call.project }) };
  return (await runInterleaved(fromBinaryInSteps(output, message), limit)) as MessageShape<Output>;
}

/** Connect's own client: streams are few. */
function createStreams(
  { baseUrl, audience, token }: ServiceTransportOptions,
  sessionManager: Sessions,
): Transport["stream"] {
  const context: Interceptor = (next) => async (request) => {
    request.header.set("authorization", `Bearer ${await token(audience)}`);
    const call = request.contextValues.get(callKey);
    for (const [name, value] of Object.entries(call === undefined ? {} : toHeaders(call))) {
      request.header.set(name, value);
    }
    return next(request);
  };
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager,
    interceptors: [...streamTraces(), context],
    readMaxBytes: MAX_MESSAGE_BYTES,
    // Within a cluster, latency matters more than bandwidth.
    acceptCompression: [],
  });
  return (...call) => transport.stream(...call);
}

import type {
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  Message,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { createContextValues, type Transport } from "@connectrpc/connect";
import { currentTime } from "@scrip/clock";

import { type Call, callKey } from "./call.ts";

type ClientMethod<Method extends DescMethod> =
  Method extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, call: Call) => Promise<MessageShape<O>>
    : Method extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageInitShape<I>, call: Call) => AsyncIterable<MessageShape<O>>
      : never;

/** A typed client of a service: each RPC takes the request and the call. */
export type Client<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]: ClientMethod<Service["method"][Name]>;
};

export function clientOf<Service extends DescService>(
  service: Service,
  transport: Transport,
): Client<Service> {
  const client: Record<string, unknown> = {};
  for (const method of service.methods) {
    if (isUnary(method)) {
      client[method.localName] = (request: Message, call: Call) =>
        invoke(transport, method, request, call);
    } else if (isStream(method)) {
      client[method.localName] = (request: Message, call: Call) =>
        openStream(transport, method, request, call);
    }
  }
  return client as Client<Service>;
}

/** Calls an RPC that is known by its descriptor only, as the gateway does. */
export async function invoke(
  transport: Transport,
  method: DescMethodUnary,
  request: Message,
  call: Call,
): Promise<MessageShape<DescMethodUnary["output"]>> {
  const values = createContextValues().set(callKey, call);
  const timeoutMs = call.deadline - currentTime();
  const { message } = await transport.unary(
    method,
    call.signal,
    timeoutMs,
    undefined,
    request,
    values,
  );
  return message;
}

/** Reads the messages of a stream. It has no deadline; `call.signal` ends it, and so does leaving the loop. */
// oxlint-disable-next-line max-params -- as invoke
async function* openStream(
  transport: Transport,
  method: DescMethodServerStreaming,
  request: Message,
  call: Call,
): AsyncIterable<MessageShape<DescMethodServerStreaming["output"]>> {
  const values = createContextValues().set(callKey, call);
  // Connect does not tell the server that its reader has left the loop.
  const leaving = new AbortController();
  const signal =
    call.signal === undefined ? leaving.signal : AbortSignal.any([call.signal, leaving.signal]);
  try {
    const { message } = await transport.stream(
      method,
      signal,
      undefined,
      undefined,
      only(request),
      values,
    );
    yield* message;
  } finally {
    leaving.abort();
  }
}

// oxlint-disable-next-line typescript/require-await -- the transport takes an asynchronous iterable
async function* only<T>(item: T): AsyncIterable<T> {
  yield item;
}

const isStream = (method: DescMethod): method is DescMethodServerStreaming =>
  method.methodKind === "server_streaming";

const isUnary = (method: DescMethod): method is DescMethodUnary => method.methodKind === "unary";

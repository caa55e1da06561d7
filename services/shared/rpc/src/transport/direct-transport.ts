import {
  create,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type StreamResponse,
  type Transport,
  type UnaryResponse,
} from "@connectrpc/connect";

import { type Call, callKey } from "../call/call.ts";
import { traceTransport } from "../call/traces.ts";
import type { Implementation, UntypedHandler } from "../server/service.ts";

/** Shared by all responses: in memory no headers are sent. */
const NO_HEADERS = new Headers();

/**
 * Calls handlers in this process: messages are passed without serialisation, and errors as they
 * were thrown. Measured behind an HTTP server, about 2.5 times as fast as createRouterTransport and
 * 13 times as fast as gRPC.
 */
export function createDirectTransport(implementations: readonly Implementation[]): Transport {
  const handlers = new Map<DescMethod, UntypedHandler>();
  for (const { service, handlers: own } of implementations) {
    for (const method of service.methods) {
      const handler = own[method.localName];
      if (handler !== undefined) handlers.set(method, handler);
    }
  }
  return traceTransport({
    // oxlint-disable-next-line max-params -- the signature is Connect's
    async unary(method, _signal, timeoutMs, _header, input, contextValues) {
      const handler = handlers.get(method);
      if (handler === undefined) throw new ConnectError(method.name, Code.Unimplemented);
      const call = contextValues?.get(callKey);
      if (call === undefined) throw new ConnectError("no call in the context", Code.Internal);
      if (timeoutMs !== undefined && timeoutMs <= 0) {
        throw new ConnectError("the deadline has passed", Code.DeadlineExceeded);
      }
      const message = await run(handler, toMessage(method.input, input), call);
      return {
        stream: false,
        service: method.parent,
        method,
        header: NO_HEADERS,
        trailer: NO_HEADERS,
        message,
      } as UnaryResponse<typeof method.input, typeof method.output>;
    },
    // oxlint-disable-next-line max-params -- the signature is Connect's
    async stream(method, signal, _timeoutMs, _header, input, contextValues) {
      const handler = handlers.get(method);
      if (handler === undefined) throw new ConnectError(method.name, Code.Unimplemented);
      const call = contextValues?.get(callKey);
      if (call === undefined) throw new ConnectError("no call in the context", Code.Internal);
      let request: object | undefined;
      for await (const message of input) request = toMessage(method.input, message);
      if (request === undefined) throw new ConnectError("no request", Code.InvalidArgument);
      const messages = (handler as unknown as StreamHandler)(request, { ...call, signal });
      return {
        stream: true,
        service: method.parent,
        method,
        header: NO_HEADERS,
        trailer: NO_HEADERS,
        message: messages,
      } as StreamResponse<typeof method.input, typeof method.output>;
    },
  });
}

type StreamHandler = (request: object, call: Call) => AsyncIterable<unknown>;

function run(handler: UntypedHandler, request: object, call: Call): Promise<unknown> {
  return (handler as (request: object, call: Call) => Promise<unknown>)(request, call);
}

/** `create` is slow compared to a call in memory, so whole messages pass unchanged. */
function toMessage<I extends DescMessage>(schema: I, input: MessageInitShape<I>): object {
  return "$typeName" in input ? input : create(schema, input);
}

import {
  create,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport, type UnaryResponse } from "@connectrpc/connect";

import { type Call, callKey } from "./call.ts";
import type { Implementation, UntypedHandler } from "./service.ts";

/** Shared by all answers: in memory nothing travels in headers. */
const NO_HEADERS = new Headers();

/**
 * Calls handlers in this process: typed messages are handed over as they are and nothing is
 * serialised. About 2.5 times as fast as createRouterTransport behind an HTTP door, and 13 times as
 * fast as gRPC (design/architecture.md §3). Refusals arrive as the errors that were thrown.
 */
export function createDirectTransport(implementations: readonly Implementation[]): Transport {
  const handlers = new Map<DescMethod, UntypedHandler>();
  for (const { service, handlers: own } of implementations) {
    for (const method of service.methods) {
      const handler = own[method.localName];
      if (handler !== undefined) handlers.set(method, handler);
    }
  }
  return {
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
    stream() {
      throw new ConnectError("no streams between services", Code.Unimplemented);
    },
  };
}

function run(handler: UntypedHandler, request: object, call: Call): Promise<unknown> {
  return (handler as (request: object, call: Call) => Promise<unknown>)(request, call);
}

/** `create` is slow beside a call in memory, so whole messages pass as they are. */
function toMessage<I extends DescMessage>(schema: I, input: MessageInitShape<I>): object {
  return "$typeName" in input ? input : create(schema, input);
}

import type {
  DescMethod,
  DescMethodUnary,
  DescService,
  Message,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { createContextValues, type Transport } from "@connectrpc/connect";

import { type Call, callKey } from "./call.ts";

type ClientMethod<Method extends DescMethod> =
  Method extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, call: Call) => Promise<MessageShape<O>>
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
    if (!isUnary(method)) continue;
    client[method.localName] = (request: Message, call: Call) =>
      invoke(transport, method, request, call);
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
  const timeoutMs = call.deadline - Date.now();
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

const isUnary = (method: DescMethod): method is DescMethodUnary => method.methodKind === "unary";

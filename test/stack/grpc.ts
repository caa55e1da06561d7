import type {
  DescMessage,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";
import { createServiceTransport, createTokenSource } from "@scrip/rpc";

import type { Stack } from "./compositions.ts";

/** Below the longest deadline that a service accepts. */
const TIMEOUT_MS = 9_500;

/** The service that has an RPC, such as `voucher` of `scrip.voucher.v1`. */
export const audienceOf = ({ parent }: DescMethodUnary): string =>
  parent.typeName.split(".")[1] ?? "";

/** Calls RPCs of any service with a service token, as callers of other companies and teams do. */
export function grpcCaller(
  { grpc, serviceKeys }: Pick<Stack, "grpc" | "serviceKeys">,
  claims: { readonly internal?: boolean; readonly projects: readonly string[] },
) {
  const token = createTokenSource(serviceKeys, {
    name: claims.internal === true ? "gateway" : "warehouse",
    internal: false,
    scopes: ["api"],
    ...claims,
  });
  const transports = new Map<string, Transport>();
  const transportOf = (audience: string): Transport => {
    const known = transports.get(audience);
    if (known !== undefined) return known;
    const baseUrl = grpc[audience] ?? "";
    const transport = createServiceTransport({ baseUrl, audience, token });
    transports.set(audience, transport);
    return transport;
  };
  return async <I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    headers: Readonly<Record<string, string>>,
  ): Promise<MessageShape<O>> => {
    const transport = transportOf(audienceOf(method));
    const { message } = await transport.unary(method, undefined, TIMEOUT_MS, headers, request);
    return message;
  };
}

/** The error of a call that must fail: its gRPC code, and the error object of the API. */
export async function grpcErrorOf(call: Promise<unknown>) {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ConnectError))
    throw new Error("the call did not fail", { cause: thrown });
  const [error] = thrown.findDetails(ErrorSchema);
  return { code: Code[thrown.code], key: error?.key, resourceType: error?.resourceType };
}

import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { toConnectError } from "@scrip/errors";
import { activeSpan, currentTracing } from "@scrip/telemetry";

import { type Call, callKey } from "./call.ts";
import type { ReceivedHeaders } from "./headers.ts";

/** W3C Trace Context. */
const TRACEPARENT = "traceparent";

/** Runs a unary call, with the headers that continue the trace in the called process. */
type InSpan = <Result>(
  method: DescMethod,
  call: Call | undefined,
  send: (headers: TraceHeaders) => Promise<Result>,
) => Promise<Result>;

type TraceHeaders = { readonly [TRACEPARENT]?: string };

/** Spans of outgoing unary calls; none without tracing. Checks of health have none. */
export function clientSpans(): InSpan {
  const tracing = currentTracing();
  if (tracing === undefined) return (_method, _call, send) => send(NO_TRACE);
  return (method, call, send) =>
    call === undefined
      ? send(NO_TRACE)
      : tracing.inSpan({ ...spanOf(method), kind: "client" }, ({ traceparent }) =>
          send({ [TRACEPARENT]: traceparent }),
        );
}

const NO_TRACE: TraceHeaders = {};

/** Streams are part of the span that opens them. */
export function streamTraces(): Interceptor[] {
  if (currentTracing() === undefined) return [];
  return [
    (next) => (request) => {
      const span = request.contextValues.get(callKey) && activeSpan();
      if (span !== undefined) request.header.set(TRACEPARENT, span.traceparent);
      return next(request);
    },
  ];
}

/** Spans of received unary calls, which continue those of their callers; none without tracing. */
export function serverSpans(): <Result>(
  method: DescMethod,
  headers: ReceivedHeaders,
  handle: () => Promise<Result>,
) => Promise<Result> {
  const tracing = currentTracing();
  if (tracing === undefined) return (_method, _headers, handle) => handle();
  return (method, headers, handle) => {
    const parent = headers.get(TRACEPARENT);
    return tracing.inSpan({ ...spanOf(method), kind: "server", parent }, handle);
  };
}

/** Spans of the calls within a process; without tracing, the transport itself. */
export function traceTransport(transport: Transport): Transport {
  const tracing = currentTracing();
  if (tracing === undefined) return transport;
  return {
    ...transport,
    // oxlint-disable-next-line max-params -- the signature is Connect's
    unary: (method, ...rest) =>
      tracing.inSpan({ ...spanOf(method), kind: "internal" }, () =>
        transport.unary(method, ...rest),
      ),
  };
}

const spanOf = ({ parent, name }: DescMethod) => ({
  name: `${parent.typeName}/${name}`,
  attributes: { "rpc.system": "grpc", "rpc.service": parent.typeName, "rpc.method": name },
  isFailure,
});

/** Codes that mark a span as failed. A rejection is a regular response. */
const FAILURES: ReadonlySet<Code> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

function isFailure(error: unknown): boolean {
  const { code } = error instanceof ConnectError ? error : toConnectError(error, "");
  return FAILURES.has(code);
}

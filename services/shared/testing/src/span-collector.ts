import { once } from "node:events";
import { createServer } from "node:http";

export type ReceivedSpan = {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, unknown>>;
};

export type SpanCollector = AsyncDisposable & {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
};

type KeyValue = { readonly key: string; readonly value: object };

/** Receives spans by OTLP over HTTP, as a collector of OpenTelemetry does. */
export async function startSpanCollector(): Promise<SpanCollector> {
  const spans: ReceivedSpan[] = [];
  const server = createServer(async (request, response) => {
    // The format of the protocol.
    // oxlint-disable-next-line typescript/no-explicit-any
    const { resourceSpans } = (await new Response(request as any).json()) as any;
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = String(valuesOf(resource.attributes)["service.name"]);
      for (const scope of scopeSpans) {
        for (const span of scope.spans) {
          spans.push({ ...span, service, attributes: valuesOf(span.attributes) });
        }
      }
    }
    response.end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Each value is an object with one field, named after its type. */
const valuesOf = (attributes: readonly KeyValue[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

import { once } from "node:events";
import { createServer } from "node:http";

import { ConfigError } from "@scrip/config";
import { describe, expect, test } from "vitest";

import { createLogger } from "./logger.ts";
import {
  activeSpan,
  currentTracing,
  exportedTraceparent,
  inTraceOf,
  readTracingConfig,
  startTracing,
  traceContext,
} from "./tracing.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const SAMPLED = `00-${TRACE_ID}-b7ad6b7169203331-01`;
const UNSAMPLED = `00-${TRACE_ID}-b7ad6b7169203331-00`;

type Exported = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly links?: readonly { readonly traceId: string }[];
  readonly status: { readonly code?: number };
};

/** The spans that `work` exports to a collector. */
async function spansOf(
  env: Readonly<Record<string, string>>,
  work: (tracing: NonNullable<ReturnType<typeof currentTracing>>) => Promise<unknown>,
): Promise<readonly Exported[]> {
  const spans: Exported[] = [];
  const collector = createServer(async (request, response) => {
    const { resourceSpans } = (await new Response(request).json()) as any;
    for (const { scopeSpans } of resourceSpans) {
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    response.end("{}");
  });
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
  const { port } = collector.address() as { port: number };
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, ...env };
  Object.assign(process.env, variables);
  try {
    await using _ = await startTracing("till", readTracingConfig(process.env));
    await work(currentTracing()!);
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
    collector.close();
  }
  return spans;
}

test("traces nothing without an endpoint", async () => {
  await using _ = await startTracing("till", readTracingConfig({}));
  expect(currentTracing()).toBeUndefined();
  expect(activeSpan()).toBeUndefined();
  expect(exportedTraceparent()).toBeUndefined();
  expect(traceContext()).toBeUndefined();
  expect(await inTraceOf([undefined, undefined], async () => 5)).toBe(5);
});

test("continues the trace of the caller, and stops with the process", async () => {
  const spans = await spansOf({}, (tracing) =>
    tracing.inSpan({ name: "request", kind: "server", parent: SAMPLED }, () =>
      tracing.inSpan({ name: "call", kind: "client" }, async () => {
        expect(activeSpan()).toMatchObject({ traceId: TRACE_ID, isSampled: true });
        expect(exportedTraceparent()).toBe(activeSpan()?.traceparent);
      }),
    ),
  );
  const [call, request] = spans;
  expect(request).toMatchObject({ name: "request", traceId: TRACE_ID });
  expect(request?.parentSpanId).toBe("b7ad6b7169203331");
  expect(call).toMatchObject({ traceId: TRACE_ID, parentSpanId: request?.spanId });
  expect(currentTracing()).toBeUndefined();
});

test.each([
  ["none", null],
  ["of another form", "00-xyz-1-01"],
  ["of zeros", `00-${"0".repeat(32)}-${"0".repeat(16)}-01`],
])("begins a trace when the traceparent of the caller is %s", async (_form, parent) => {
  const spans = await spansOf({}, (tracing) =>
    tracing.inSpan({ name: "request", kind: "server", parent }, async () => {}),
  );
  expect(spans).toEqual([expect.objectContaining({ traceId: expect.not.stringMatching(/^0*$/) })]);
  expect(spans[0]?.parentSpanId ?? "").toBe("");
});

test.each<[string, string, string | null, boolean]>([
  ["always_off", "", SAMPLED, false],
  ["always_on", "", UNSAMPLED, true],
  ["parentbased_always_on", "", UNSAMPLED, false],
  ["parentbased_always_on", "", null, true],
  ["parentbased_always_off", "", SAMPLED, true],
  ["parentbased_always_off", "", null, false],
  ["parentbased_traceidratio", "0", null, false],
  ["parentbased_traceidratio", "1", null, true],
  ["traceidratio", "0.0", SAMPLED, false],
])("the sampler %s %s with the parent %s", async (sampler, ratio, parent, isExported) => {
  const env = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio };
  const spans = await spansOf(env, (tracing) =>
    tracing.inSpan({ name: "request", kind: "server", parent }, async () => {
      expect(exportedTraceparent() !== undefined).toBe(isExported);
    }),
  );
  expect(spans).toHaveLength(isExported ? 1 : 0);
});

test("exports the handling of events of an exported trace with any sampler", async () => {
  const env = { OTEL_TRACES_SAMPLER: "parentbased_always_off" };
  const consume = { name: "process", kind: "consumer", parent: null } as const;
  const spans = await spansOf(env, async (tracing) => {
    await tracing.inSpan({ ...consume, links: [SAMPLED, "invalid"] }, async () => {});
    await tracing.inSpan({ ...consume, links: [UNSAMPLED] }, async () => {});
  });
  expect(spans).toEqual([
    expect.objectContaining({ links: [expect.objectContaining({ traceId: TRACE_ID })] }),
  ]);
  expect(spans[0]?.traceId).not.toBe(TRACE_ID);
});

test("a batch continues the trace of its first item and links those of the others", async () => {
  const spans = await spansOf({}, async (tracing) => {
    const contextOf = (name: string) =>
      tracing.inSpan({ name, kind: "server", parent: null }, async () => traceContext());
    const contexts = [await contextOf("first"), await contextOf("second")];
    await inTraceOf(contexts, () =>
      tracing.inSpan({ name: "call", kind: "client" }, async () => {}),
    );
    await inTraceOf([contexts[1]], () =>
      tracing.inSpan({ name: "alone", kind: "client" }, async () => {}),
    );
  });
  const byName = new Map(spans.map((span) => [span.name, span]));
  const [first, second, batch] = ["first", "second", "batch"].map((name) => byName.get(name));
  expect(batch).toMatchObject({ traceId: first?.traceId, parentSpanId: first?.spanId });
  expect(batch?.links).toEqual([expect.objectContaining({ traceId: second?.traceId })]);
  expect(byName.get("call")?.parentSpanId).toBe(batch?.spanId);
  expect(byName.get("alone")?.parentSpanId).toBe(second?.spanId);
});

test("marks the spans of failures, but not those of rejections", async () => {
  const spans = await spansOf({}, async (tracing) => {
    const fail = async (): Promise<never> => {
      throw new Error("no");
    };
    const start = { kind: "server", parent: null } as const;
    await expect(tracing.inSpan({ ...start, name: "failed" }, fail)).rejects.toThrow("no");
    const rejection = { ...start, name: "rejected", isFailure: () => false };
    await expect(tracing.inSpan(rejection, fail)).rejects.toThrow("no");
  });
  expect(spans.map(({ name, status }) => [name, status.code ?? 0])).toEqual([
    ["failed", 2],
    ["rejected", 0],
  ]);
});

test("log lines of a traced request have the id of its trace", async () => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line));
  await spansOf({}, async (tracing) => {
    const logger = createLogger({ service: "till", level: "info", destination: { write } });
    logger.info({}, "before");
    await tracing.inSpan({ name: "request", kind: "server", parent: SAMPLED }, async () =>
      logger.plain({ request_id: "v-1" }, "request"),
    );
  });
  expect(lines[0]).not.toHaveProperty("trace_id");
  expect(lines[1]).toMatchObject({ request_id: "v-1", trace_id: TRACE_ID });
});

describe("rejects at start", () => {
  test.each([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318 "],
    ["OTEL_TRACES_SAMPLER", "jaeger_remote"],
    ["OTEL_TRACES_SAMPLER_ARG", "1.5"],
  ])("%s=%s", (name, value) => {
    expect(() => readTracingConfig({ [name]: value })).toThrow(ConfigError);
  });
});

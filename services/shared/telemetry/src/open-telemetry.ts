import { setTimeout as sleep } from "node:timers/promises";

import {
  context,
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { parseTraceParent, setGlobalErrorHandler } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";

import { createLogger } from "./logger.ts";
import type { ActiveSpan, SpanStart, Tracing, TracingConfig } from "./tracing.ts";

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
  consumer: SpanKind.CONSUMER,
} as const;

/** How long the last spans may take to be exported. */
const FLUSH_MS = 2_000;

/** Spans of OpenTelemetry, exported by OTLP over HTTP. Calls of the exporter itself are not traced. */
export function createTracing(service: string, config: TracingConfig): Tracing {
  const provider = new TracerProvider({
    sampler: withLinks(samplerOf(config)),
    resource: defaultResource()
      .merge(resourceFromAttributes({ "service.name": service, "service.namespace": "scrip" }))
      // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
      .merge(
        detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
      ),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(),
        scheduledDelayMillis: config.delayMs,
      }),
    ],
  });
  const logger = createLogger({ service, level: "warn" });
  setGlobalErrorHandler((error) => logger.warn({ error }, "spans could not be exported"));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const tracer = provider.getTracer("scrip");
  return {
    async inSpan(start, work) {
      const parent = contextOf(start);
      const links = (start.links ?? []).flatMap(linkTo);
      const options = {
        kind: KINDS[start.kind],
        links,
        ...(start.attributes !== undefined && { attributes: start.attributes }),
      };
      const span = tracer.startSpan(start.name, options, parent);
      try {
        return await context.with(trace.setSpan(parent, span), () => work(activeSpanOf(span)));
      } catch (error) {
        if (start.isFailure?.(error) ?? true) span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },
    activeSpan() {
      const span = trace.getActiveSpan();
      return span && activeSpanOf(span);
    },
    context() {
      const active = context.active();
      const spanContext = trace.getSpanContext(active);
      return {
        traceparent:
          spanContext !== undefined && isSampled(spanContext)
            ? formatTraceparent(spanContext)
            : undefined,
        run: (work) => context.with(active, work),
      };
    },
    async [Symbol.asyncDispose]() {
      // A collector that does not respond must not delay the end of the process.
      await Promise.race([provider.shutdown(), sleep(FLUSH_MS, undefined, { ref: false })]);
      context.disable();
    },
  };
}

function contextOf({ parent }: SpanStart): Context {
  if (parent === undefined) return context.active();
  const remote = parent === null ? null : parseTraceParent(parent);
  return remote === null
    ? ROOT_CONTEXT
    : trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
}

function linkTo(traceparent: string): readonly Link[] {
  const linked = parseTraceParent(traceparent);
  return linked === null ? [] : [{ context: linked }];
}

function activeSpanOf(span: Span): ActiveSpan {
  const spanContext = span.spanContext();
  return {
    traceparent: formatTraceparent(spanContext),
    traceId: spanContext.traceId,
    isSampled: isSampled(spanContext),
    describe(name, attributes, failed) {
      span.updateName(name).setAttributes(attributes);
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
    },
    annotate: (attributes) => void span.setAttributes(attributes),
  };
}

const formatTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;

const isSampled = ({ traceFlags }: SpanContext): boolean => (traceFlags & TraceFlags.SAMPLED) !== 0;

const PARENT_BASED = "parentbased_";

function samplerOf({ sampler, ratio }: TracingConfig): Sampler {
  const isParentBased = sampler.startsWith(PARENT_BASED);
  const base = isParentBased ? sampler.slice(PARENT_BASED.length) : sampler;
  const root =
    base === "always_on"
      ? new AlwaysOnSampler()
      : base === "always_off"
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

/** What handles the events of an exported trace is exported too, though in a trace of its own. */
const withLinks = (sampler: Sampler): Sampler => ({
  // oxlint-disable-next-line max-params -- the signature is OpenTelemetry's
  shouldSample: (parent, traceId, name, kind, attributes, links) =>
    kind === SpanKind.CONSUMER && links.some((link) => isSampled(link.context))
      ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
      : sampler.shouldSample(parent, traceId, name, kind, attributes, links),
  toString: () => `WithLinks{${sampler.toString()}}`,
});

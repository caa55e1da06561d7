import { type Env, readEnv, variable } from "@scrip/config";

/** The standard variables of OpenTelemetry that Scrip checks at its start; the exporter reads the others itself. */
export type TracingConfig = {
  /** Where the spans go; without one, nothing is traced. */
  readonly endpoint: string | undefined;
  readonly sampler: SamplerName;
  /** The probability of a trace, for the samplers with a ratio. */
  readonly ratio: number;
  /** How long spans wait to be exported together. */
  readonly delayMs: number;
};

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

export type SamplerName = (typeof SAMPLERS)[number];

export type SpanStart = {
  readonly name: string;
  readonly kind: "server" | "client" | "internal" | "consumer";
  /** The `traceparent` of the caller in another process; null begins a trace. Default: the active span. */
  readonly parent?: string | null;
  /** The `traceparent` of further spans that caused this one. */
  readonly links?: readonly string[];
  readonly attributes?: SpanAttributes;
  /** Whether an error that ends the span is a failure of this process. Default: each is. */
  readonly isFailure?: (error: unknown) => boolean;
};

export type SpanAttributes = Readonly<Record<string, string | number>>;

export type ActiveSpan = {
  /** The span in the notation of W3C Trace Context. */
  readonly traceparent: string;
  readonly traceId: string;
  /** Whether it is exported. */
  readonly isSampled: boolean;
  /** Names the span, and says how its work ended. */
  readonly describe: (name: string, attributes: SpanAttributes, failed: boolean) => void;
  readonly annotate: (attributes: SpanAttributes) => void;
};

/** Where a piece of work came from, for work that others continue. */
export type TraceContext = {
  /** Undefined: there is no active span, or it is not exported. */
  readonly traceparent: string | undefined;
  readonly run: <Result>(work: () => Result) => Result;
};

export type Tracing = AsyncDisposable & {
  readonly inSpan: <Result>(
    start: SpanStart,
    work: (span: ActiveSpan) => Promise<Result>,
  ) => Promise<Result>;
  readonly activeSpan: () => ActiveSpan | undefined;
  readonly context: () => TraceContext;
};

let tracing: Tracing | undefined;

export function readTracingConfig(env: Env): TracingConfig {
  const { traces, common, sampler, argument, delayMs } = readEnv(env, {
    traces: {
      name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
      reader: variable.optional(httpUrl),
    },
    common: { name: "OTEL_EXPORTER_OTLP_ENDPOINT", reader: variable.optional(httpUrl) },
    sampler: {
      name: "OTEL_TRACES_SAMPLER",
      reader: variable.withDefault(variable.oneOf(...SAMPLERS), "parentbased_always_on"),
    },
    argument: { name: "OTEL_TRACES_SAMPLER_ARG", reader: variable.withDefault(ratio, 1) },
    delayMs: {
      name: "OTEL_BSP_SCHEDULE_DELAY",
      reader: variable.withDefault(variable.integer(1, 60_000), 5_000),
    },
  });
  return { endpoint: traces ?? common, sampler, ratio: argument, delayMs };
}

const httpUrl = {
  expected: "a URL that begins with http:// or https://",
  read: (text: string) => (/^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
};

const ratio = {
  expected: "a number from 0 to 1",
  read: (text: string) => (/^(0(\.\d+)?|1(\.0+)?)$/.test(text) ? Number(text) : undefined),
};

/**
 * Traces this process from now on, if spans have a destination. Call it before anything else starts: transports and
 * servers look once whether there is tracing. Without it, OpenTelemetry is not even loaded.
 */
export async function startTracing(
  service: string,
  config: TracingConfig,
): Promise<AsyncDisposable> {
  if (config.endpoint === undefined) return NOTHING;
  const { createTracing } = await import("./open-telemetry.ts");
  const started = createTracing(service, config);
  tracing = started;
  return {
    async [Symbol.asyncDispose]() {
      tracing = undefined;
      await started[Symbol.asyncDispose]();
    },
  };
}

const NOTHING: AsyncDisposable = { [Symbol.asyncDispose]: () => Promise.resolve() };

/** Undefined: nothing is traced, and nothing must be done for it. */
export const currentTracing = (): Tracing | undefined => tracing;

/** The span that this code runs in. */
export const activeSpan = (): ActiveSpan | undefined => tracing?.activeSpan();

/** The active span, for what is stored and continued later; undefined unless it is exported. */
export function exportedTraceparent(): string | undefined {
  const span = tracing?.activeSpan();
  return span?.isSampled === true ? span.traceparent : undefined;
}

/** The context of the active span, to continue it in a batch; undefined without tracing. */
export const traceContext = (): TraceContext | undefined => tracing?.context();

/** Runs the work of a batch in the context of its first item; a span links it to the other items. */
export function inTraceOf<Result>(
  [first, ...others]: readonly (TraceContext | undefined)[],
  work: () => Promise<Result>,
): Promise<Result> {
  const current = tracing;
  if (current === undefined || first === undefined) return work();
  const links = others.flatMap((other) => other?.traceparent ?? []);
  if (links.length === 0) return first.run(work);
  const attributes = { "batch.items": others.length + 1 };
  return first.run(() =>
    current.inSpan({ name: "batch", kind: "internal", links, attributes }, work),
  );
}

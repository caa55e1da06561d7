export { createLogger, type Logger, type LoggerOptions, type PlainFields } from "./logger.ts";
export {
  type MetricsServer,
  type MetricsServerConfig,
  readMetricsConfig,
  serveMetrics,
  startMetricsServer,
} from "./metrics-server.ts";
export {
  createMetrics,
  mergeMetrics,
  type MetricOptions,
  type Metrics,
  type MetricsText,
} from "./metrics.ts";
export {
  activeSpan,
  type ActiveSpan,
  currentTracing,
  exportedTraceparent,
  inTraceOf,
  readTracingConfig,
  type SpanAttributes,
  startTracing,
  traceContext,
  type TraceContext,
  type TracingConfig,
} from "./tracing.ts";

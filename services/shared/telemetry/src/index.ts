export { createLogger, type Logger, type LoggerOptions, type PlainFields } from "./logger.ts";
export {
  type MetricsServer,
  type MetricsServerConfig,
  readMetricsConfig,
  serveMetrics,
  startMetricsServer,
} from "./metrics-server.ts";
export { createMetrics, type MetricOptions, type Metrics } from "./metrics.ts";

export { createLogger, type Logger, type LoggerOptions, type PlainFields } from "./logger.ts";
export { createMetrics, type MetricOptions, type Metrics } from "./metrics.ts";

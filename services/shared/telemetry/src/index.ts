export { createLogger, type Logger, type LoggerOptions } from "./logger.ts";
export { createMetrics, type MetricOptions, type Metrics } from "./metrics.ts";

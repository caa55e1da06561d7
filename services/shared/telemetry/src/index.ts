export { createLogger, type Logger } from "./logger.ts";
export { createMetrics, type Metrics } from "./metrics.ts";

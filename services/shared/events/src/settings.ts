import type { DeliveryPolicy } from "./delivery.ts";
import { isTransient } from "./transient.ts";

export const POLICY: DeliveryPolicy = {
  isTransient,
  attempts: 5,
  backOffMs: 100,
  maxBackOffMs: 10_000,
};

/** Number of partitions that a subscription handles concurrently. */
export const CONCURRENCY = 3;

/** Maximum number of events per call of a handler. */
export const BATCH = 500;

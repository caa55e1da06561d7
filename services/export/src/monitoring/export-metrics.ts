import type { Queryable } from "@scrip/postgres";
import type { Metrics } from "@scrip/telemetry";

import { type Backlog, findBacklog } from "../store/backlog.ts";

/** Outcome of an attempt: a `repeated` one failed and is retried later. */
export type DeliveryOutcome = "succeeded" | "repeated" | "failed";

/** Counts what this process has done, and reports what waits in all processes (docs/operations.md#metrics). */
export type ExportMetrics = {
  readonly countDelivery: (outcome: DeliveryOutcome) => void;
  readonly countJob: (outcome: "done" | "failed") => void;
};

/** Metrics that are read at the same time share a query. */
const SHARE_MS = 1_000;

const NOTHING: Backlog = {
  jobs: 0,
  oldestJobSeconds: 0,
  deliveries: 0,
  oldestDeliverySeconds: 0,
};

export function createExportMetrics(metrics: Metrics, db: Queryable): ExportMetrics {
  const deliveries = metrics.counter({
    name: "webhook_deliveries_total",
    help: "Attempts to deliver events to webhooks by outcome",
    labels: ["outcome"],
  });
  const jobs = metrics.counter({
    name: "jobs_ended_total",
    help: "Jobs of async actions and exports that ended, by outcome",
    labels: ["outcome"],
  });
  // A counter that begins with its first failure would show no increase.
  for (const outcome of ["done", "failed"]) jobs.inc({ outcome }, 0);
  const read = createBacklogReader(db);
  const gauge = (name: string, help: string, figure: keyof Backlog): void =>
    metrics.gauge({ name, help, merged: "max", read: async () => (await read())[figure] });
  gauge("jobs_waiting", "Jobs that have not ended", "jobs");
  gauge("jobs_oldest_seconds", "Age of the oldest job that has not ended", "oldestJobSeconds");
  gauge("webhook_deliveries_waiting", "Deliveries that are due", "deliveries");
  gauge(
    "webhook_deliveries_oldest_seconds",
    "How long the oldest delivery has been due",
    "oldestDeliverySeconds",
  );
  return {
    countDelivery: (outcome) => deliveries.inc({ outcome }),
    countJob: (outcome) => jobs.inc({ outcome }),
  };
}

/** While the database is unavailable, the last figures are reported. */
function createBacklogReader(db: Queryable): () => Promise<Backlog> {
  let last = NOTHING;
  let reading: Promise<Backlog> | undefined;
  let readAt = -Infinity;
  return () => {
    if (reading !== undefined && performance.now() - readAt < SHARE_MS) return reading;
    readAt = performance.now();
    reading = findBacklog(db)
      .then((found) => (last = found))
      .catch(() => last);
    return reading;
  };
}

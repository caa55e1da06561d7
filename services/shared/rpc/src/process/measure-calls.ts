import { catalogue, isErrorKey } from "@scrip/errors";
import type { Metrics } from "@scrip/telemetry";

import type { CallReport } from "../server/serve.ts";

type Outcome = "ok" | "rejected" | "failed";

/** Measures each call of a server by method and outcome. Label lookups per call would cost more than the measurement. */
export function measureCalls(metrics: Metrics): (report: CallReport) => void {
  const durations = metrics.histogram({
    name: "rpc_request_duration_seconds",
    help: "Duration of calls over gRPC by service, method and outcome.",
    labels: ["service", "method", "outcome"],
  });
  const timers = new Map<string, Map<string, (seconds: number) => void>>();
  return (report) => {
    const { service, method, durationMs } = report;
    const outcome = outcomeOf(report);
    const ofOutcome = timers.get(outcome) ?? new Map<string, (seconds: number) => void>();
    timers.set(outcome, ofOutcome);
    const name = `${service}/${method}`;
    let observe = ofOutcome.get(name);
    if (observe === undefined) {
      const child = durations.labels(service, method, outcome);
      observe = (seconds) => child.observe(seconds);
      ofOutcome.set(name, observe);
    }
    observe(durationMs / 1_000);
  };
}

const SERVER_ERROR = 500;

/** Overload is a failure too, as with HTTP: the caller could not avoid it. */
function outcomeOf({ key, cause }: CallReport): Outcome {
  if (key === undefined) return "ok";
  const isFailure = cause !== undefined || !isErrorKey(key) || catalogue[key].http >= SERVER_ERROR;
  return isFailure ? "failed" : "rejected";
}

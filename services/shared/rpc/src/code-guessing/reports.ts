import type { Logger, Metrics } from "@scrip/telemetry";

import {
  type CodeGuessing,
  type CodeGuessingOptions,
  type CodeGuessingReports,
  createCodeGuessing,
} from "./code-guessing.ts";

/** Code guessing with metrics and log lines. */
export function startCodeGuessing({
  logger,
  metrics,
  ...options
}: Pick<CodeGuessingOptions, "settings" | "shared"> & {
  readonly logger: Logger;
  readonly metrics: Metrics;
}): CodeGuessing {
  const guessing = createCodeGuessing({ ...options, reports: createReports(logger, metrics) });
  metrics.gauge({
    name: "code_guessing_alarms",
    help: "Projects for which most codes within the last minute were unknown.",
    read: guessing.alarms,
  });
  return guessing;
}

/** Neither metrics nor log lines contain codes, customers or sessions. */
function createReports(logger: Logger, metrics: Metrics): CodeGuessingReports {
  const misses = metrics.counter({
    name: "code_misses_total",
    help: "Unknown codes in requests.",
    labels: ["side"],
  });
  const blocks = metrics.counter({
    name: "code_guessing_blocks_total",
    help: "Callers that were blocked for a time because of unknown codes.",
    labels: ["side", "scope"],
  });
  const hits = metrics.counter({
    name: "code_hits_after_misses_total",
    help: "Callers that named a known code after ten or more unknown ones.",
    labels: ["side"],
  });
  // A counter that begins with its first hit would show no increase.
  for (const side of ["server", "client", "service"]) hits.inc({ side }, 0);
  return {
    misses: ({ side }, count) => misses.inc({ side }, count),
    blocked({ side, projectId, keyId, address }, { scope, seconds }) {
      blocks.inc({ side, scope });
      logger.warn(
        { project_id: projectId, app_id: keyId, address, scope, seconds },
        "a caller is blocked because of unknown codes",
      );
    },
    hitAfterMisses({ side, projectId, keyId, address }, count) {
      hits.inc({ side });
      logger.warn(
        { project_id: projectId, app_id: keyId, address, misses: count },
        "a known code follows many unknown ones",
      );
    },
    alarm: (projectId, { misses: count, codes }) =>
      logger.error(
        { project_id: projectId, misses: count, codes },
        "most codes of a project's requests are unknown: somebody may be guessing",
      ),
  };
}

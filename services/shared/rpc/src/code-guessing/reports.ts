import type { Logger, Metrics } from "@scrip/telemetry";

import {
  type CodeGuessing,
  type CodeRequest,
  type CodeGuessingOptions,
  type CodeGuessingReports,
  createCodeGuessing,
} from "./code-guessing.ts";

/** Adds an entry to the audit log: a caller named a known code after many unknown ones. */
export type RecordHit = (request: CodeRequest) => Promise<void>;

/** Code guessing with metrics, log lines and entries of the audit log. */
export function startCodeGuessing({
  logger,
  metrics,
  recordHit,
  ...options
}: Pick<CodeGuessingOptions, "settings" | "shared"> & {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Absent: there is no audit log. */
  readonly recordHit?: RecordHit | undefined;
}): CodeGuessing {
  const reports = createReports(logger, metrics, recordHit);
  const guessing = createCodeGuessing({ ...options, reports });
  metrics.gauge({
    name: "code_guessing_alarms",
    help: "Projects for which most codes within the last minute were unknown.",
    read: guessing.alarms,
  });
  return guessing;
}

/** Neither metrics nor log lines contain codes, customers or sessions. */
function createReports(
  logger: Logger,
  metrics: Metrics,
  recordHit: RecordHit | undefined,
): CodeGuessingReports {
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
    hitAfterMisses(request, count) {
      const { side, projectId, keyId, address } = request;
      hits.inc({ side });
      logger.warn(
        { project_id: projectId, app_id: keyId, address, misses: count },
        "a known code follows many unknown ones",
      );
      // The response does not wait for the entry.
      recordHit?.(request).catch((error: unknown) =>
        logger.error({ error, project_id: projectId }, "an entry of the audit log is missing"),
      );
    },
    alarm: (projectId, { misses: count, codes }) =>
      logger.error(
        { project_id: projectId, misses: count, codes },
        "most codes of a project's requests are unknown: somebody may be guessing",
      ),
  };
}
